"""Typed Hive trees to HudiExpression. A node that is not understood becomes Unknown at that node (C1).

    translate           the typed expression, with ``calls``, ``membership``, ``boolean_tests``
    demote              a SearchArgument, whose literals are not exact
    literals            constants, exactly or not at all (C7)
    bounded_constants   comparisons with a constant that is known only between two bounds
    function_names      Hive's classes of functions and virtual columns

Imports ``hive_tree`` and the evaluator's language.
"""
