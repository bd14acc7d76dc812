"""The object graph to typed trees: Hive's ExprNodeDesc and SearchArgument, with their constants.

Imports ``kryo``.
"""
