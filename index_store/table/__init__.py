"""One Hudi table: properties, timeline, schema, metadata table and file slices.

Imports ``formats`` and ``storage``; it knows no index kind.
"""
