"""``sargo doctor``: whether an installation of Hive, jar, sidecar and table can skip files, and the remedy if not.

Each check yields one finding or a few; a failed check does not stop the others. Parts that were not named on the
command line are not checked.

    jar        it is Sargo's, complete, of this version, for Java 8, and contains no Thrift that clashes with Hive's
    settings   of hive-site.xml or of a running HiveServer2: those without which Hive hands out no filter
    sidecar    it is reachable, well, and speaks this protocol
    table      the sidecar can open it; it has statistics of columns
    filter     a query through HiveServer2 makes Hive ask the sidecar

Facts: docs/facts/hive-storage-handlers.md#when-a-filter-is-delivered.
"""
