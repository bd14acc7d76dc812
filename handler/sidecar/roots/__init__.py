"""Which tables a sidecar answers for.

allowed_roots           the folders below which tables may lie
cluster_names           which names mean one cluster or bucket
root_checks             why a root cannot be read
locations               how a table is named on the wire
sandboxed_file_system   a file system that ends at a root
"""
