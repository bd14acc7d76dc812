"""Index kinds that answer look-ups of keys: record index, secondary index, Bloom filters and key filters."""
