"""Conditions of PySpark, resolved by Spark's own analyser, as HudiExpression.

    conditions    asks the session: SQL text or a Column to Catalyst's JSON, which ``handler.catalyst`` translates
    constants     constant parts of a condition, computed by Spark
    sessions      settings of the session that conditions depend on

Imports ``handler.catalyst``, ``handler.sql`` and the evaluator's language. Only ``conditions`` needs a JVM.
"""
