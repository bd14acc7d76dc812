"""The call plan(): the files that a scan reads, so that no engine lists a directory (RFC-15).

``listed_files`` has the lengths and partitions of a view's files, ``encoding`` makes the columns of a reply of them,
``query_views`` keeps the view that the scans of one query share, and ``plans`` puts them together.
"""
