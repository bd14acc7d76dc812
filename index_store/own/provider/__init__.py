"""From own indexes to the statistics that a filter needs.

Imports ``store`` and ``build``.
"""
