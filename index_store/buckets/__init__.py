"""The hashes of Hudi's bucket index (RFC-29): from a record key to a bucket, with simple and consistent hashing.

They know keys and hashes, no table; ``index_store.kinds.bucket_index`` applies them to one.
"""
