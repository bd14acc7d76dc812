"""How cost grows with the number of files: ``make bench-curves`` measures, and writes ``docs/internals/growth.md``.

module       holds
-----------  -----------------------------------------------------------------------------
``growth``   the measurements of one number of files
``charts``   curves on two logarithmic axes, as SVG
``page``     the page of the documentation
``__main__`` the command: ``python -m tests.bench.curves --most 1000000``
"""
