"""Index kinds: each is one source of statistics about the file slices of a table (``kinds.base``).

    kinds/partition_values.py    values in partition paths
    kinds/column_stats/          Hudi's column statistics
    kinds/record_keys/           record index, secondary index, Bloom filters, keys in footers
    kinds/bucket_index/          Hudi's bucket index
    kinds/expressions/           Hudi's expression indexes

``index_store.registered_kinds`` lists them in the order of their cost.
"""
