"""What a filter says: types, literals, the expression tree, engine semantics and outcomes.

Imports nothing of the other folders.
"""
