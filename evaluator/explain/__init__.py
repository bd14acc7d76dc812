"""What people and engines ask after an evaluation: reasons, pruning blockers, residuals, read order.

Imports ``evaluation`` and what is below it.
"""
