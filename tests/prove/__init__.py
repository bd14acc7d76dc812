"""The long proof (contracts C1, C9): millions of random cases against the row-by-row oracle, and mutants that must die.

    python -m tests.prove --cases 10000000      the long run; `make prove` adds the mutation check
    python -m tests.prove --seed 17 --rounds 1  one round again

One **case** is one filter on one file slice. A **round** has a seed of its own: it draws a table (rows, files, slices),
lets writers with their known faults leave statistics, reads those through the real rules of ``index_store`` and
``statistics.distrust``, and then asks many filters of all slices at once. The oracle is asked once for each distinct
row, and a slice is a set of rows, so a case costs about a tenth of a millisecond.
"""
