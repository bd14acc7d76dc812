"""Which tables a sidecar answers for.

allowed_roots           the folders below which tables may lie
locations               how a table is named on the wire
sandboxed_file_system   a file system that ends at a root
"""
