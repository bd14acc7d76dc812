"""The operations on an own index of sketches, and vacuum and drop for every own index.

Imports ``store`` and ``build``.
"""
