"""Conditions of PySpark, resolved by Spark's own analyser, as HudiExpression.

    conditions          SQL text or Columns to a HudiExpression; ``handler.catalyst`` translates what these answer:
    analysis            asks the session about a condition: Catalyst's JSON
    joined_analysis     ... about several at once
    constants           constant parts of a condition, computed by Spark
    known_conditions    texts that were asked about before, while ``known_settings`` are the same
    refusals            what Spark says of a condition that is none
    aggregates          aggregates as users write them
    sessions            settings of the session that conditions depend on

Imports ``handler.catalyst``, ``handler.sql`` and the evaluator's language. Only ``conditions`` needs a JVM.
"""
