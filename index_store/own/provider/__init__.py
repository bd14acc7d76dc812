"""The statistics that own indexes give for a filter.

Imports ``store`` and ``build``.
"""
