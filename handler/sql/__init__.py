"""SQL text to HudiExpression: the condition after WHERE, in the dialect of Hive or of Spark.

Imports the evaluator's language.
"""
