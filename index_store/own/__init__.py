"""Indexes of our own: statistics about a table's files, kept in a folder that its writer knows nothing of (RFC-15).

definition   what an index holds              builder      who makes the statistics
life_cycle   create, refresh, optimize, ...   own_index    reading the current version
"""
