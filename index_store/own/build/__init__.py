"""How files become rows of an own index: sketched in threads or on Spark's workers, with the same bytes.

Imports ``sketches``, ``definition`` and ``builder``.
"""
