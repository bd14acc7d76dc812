"""Our own secondary index (RFC-77): which file groups hold a row with these values.

``keys`` order, ``entries`` are what is kept, ``runs`` sort and merge them beyond memory, ``sorted_table`` keeps them on
disk in blocks, and ``search`` finds in them.
"""
