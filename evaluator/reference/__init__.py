"""The oracle (contract C9): the value of a filter on one row, by SQL's three-valued logic, in the obvious slow way.

Every outcome of the evaluator is tested against it. It imports ``language`` only, and shares no
code with the rules.
"""

from evaluator.reference.row_oracle import value_of

__all__ = ["value_of"]
