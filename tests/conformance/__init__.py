"""One suite of predicates for all engines, on tables that real Hudi wrote: no row is lost, the kept slices agree.

cases           some 790 predicates, as SQL that Hive and Spark parse
row_truth       the rows on which each is TRUE by Spark (a), from a ``full_scan``; ``stored_truth`` reads them
hive_truth      the rows where Hive's meaning is another; ``meanings`` gives the reasons
hive_filters    the filters that real Hive pushes for them
paths           (b) the text, (b) Spark's resolved tree and (c) Hive's filter, to the kept file groups
pruned_reads    the rows of the kept slices; ``own_indexes`` the same with indexes of our own only
__main__        ``make conformance``: everything anew with the real engines, and the ``report``
"""
