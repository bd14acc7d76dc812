"""Conditions of Spark as Catalyst's JSON, and as HudiExpression. No Spark and no JVM is needed here.

    tree          Catalyst's JSON as nodes
    translation   nodes as HudiExpression, with ``literals``, ``functions`` and ``moments``

Imports the evaluator's language. ``handler.spark.catalyst`` asks a session for the JSON.
"""
