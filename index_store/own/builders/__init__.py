"""From data files to rows of an own index, in threads or on Spark's workers, with the same bytes.

Imports ``sketches``, ``definition`` and ``builder``.
"""
