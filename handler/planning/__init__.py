"""A filter, a table and its index kinds meet here and become a plan.

Imports ``sql``, ``sarg``, ``index_store`` and ``evaluator``.
"""
