"""Conditions of PySpark, resolved by Spark's own analyser, as HudiExpression.

    conditions    asks the session: SQL text or a Column to Catalyst's JSON, and on to a HudiExpression
    sessions      settings of the session that conditions depend on
    tree          Catalyst's JSON as nodes
    translation   nodes as HudiExpression, with ``literals`` and ``functions``

Imports ``handler.sql`` and the evaluator's language. Only ``conditions`` needs a JVM.
"""
