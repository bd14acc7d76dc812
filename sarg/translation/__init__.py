"""Typed Hive trees to HudiExpression. What is not understood becomes Unknown at its node.

Imports ``hive_tree`` and the evaluator's language.
"""
