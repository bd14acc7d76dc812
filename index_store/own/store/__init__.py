"""An own index on disk: manifest, versions, stored tables, and the optimistic commit of a new version.

Imports ``sketches`` and ``definition``.
"""
