"""The index kind ``bucket_index``: Hudi's bucket index, held against the table, and plans for more buckets."""
