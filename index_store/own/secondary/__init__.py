"""The own secondary index (RFC-77): which file groups have a row with some values.

    files to entries       slice_entries, spark_entries    the entries of a slice, in threads or on Spark
                           staged_entries                  entries that an operation has read
    entries to versions    keys, entries                   keys as bytes that sort as their values do
                           runs, sorted_table, shards      sorting beyond memory, and sorted files of blocks
                           entry_block                     one block, for a look-up of few keys
                           generation, version_builder     what a change of the table changes
                           operations                      create, refresh, optimize
    versions to answers    search                           the file groups of keys and ranges
                           constraints                     the ranges of keys that a filter allows
                           secondary_index, kind           the slices that a filter may match

Imports ``provider``, ``maintenance``, ``build``, ``store`` and ``sketches``.
"""
