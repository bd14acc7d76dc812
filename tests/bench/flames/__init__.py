"""``make flame-graphs BASE=main``: where the hot paths spend their time, in this checkout and in another commit.

    looping.py    the process that is looked at: one hot path, again and again
    stacks.py     py-spy looks at it, and the stacks are counted
    drawing.py    a flame graph as SVG
    page.py       docs/performance/index.md, with two graphs for each path

The hot paths are those of ``tests.bench.compare``.
"""
