"""Our own secondary index (RFC-77): which file groups hold a row with these values.

``keys`` order, ``entries`` are what is kept, ``runs`` sort and merge them beyond memory, ``sorted_table`` keeps them on
disk in blocks, ``shards`` divides them, and ``search`` finds in them. ``slice_entries`` reads those of a slice, with
``spark_entries`` on Spark, ``readings`` keeps what was read, ``generation`` writes what changed, ``life_cycle`` commits
it. ``kind`` answers filters, by ``constraints`` on keys.
"""
