"""Create, refresh, optimize and vacuum an own index.

Imports ``store`` and ``build``.
"""
