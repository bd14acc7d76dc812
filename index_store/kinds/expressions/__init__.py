"""The index kind ``expr_index``: Hudi's bounds and Bloom filters of a function of a column."""
