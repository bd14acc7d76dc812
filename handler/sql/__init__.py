"""SQL text to HudiExpression: the condition after WHERE, in the dialect of Hive or of Spark.

>>> from handler.sql import parse
>>> print(parse("a BETWEEN 1 AND 5 AND length(s) < 3", "hive"))
((a >= 1 AND a <= 5) AND length(s) < 3)

    parse       the condition as a HudiExpression; raises SqlError for text that is not one condition
    Engine      the names of the engines: "hive", "hive3", "hive4", "spark", "spark-ansi", "spark-try", "spark-legacy"
    SqlError    the text, the reason, and the position where it is known

Imports the evaluator's language only.
"""

from handler.sql.parsing import Engine, SqlError, parse

__all__ = ["Engine", "SqlError", "parse"]
