"""Conditions of Spark as Catalyst's JSON, and as HudiExpression. No Spark and no JVM is needed here.

    tree          Catalyst's JSON as nodes
    translation   nodes as HudiExpression, with ``literals``, ``functions`` and ``moments``
    time_zones    time zones as Spark names them
    document      the filter of a whole scan as bytes, as Sargo's Spark extension sends it

Imports the evaluator's language and the bounds of JSON. ``handler.spark.catalyst`` asks a session for the JSON.
"""
