"""Own indexes: statistics about a table's files, in a folder that the table's writer does not know (RFC-15, RFC-77).

    advice         which index is worth its bytes
    secondary      indexes of values: key -> record key -> file group
    provider       answers of sketches to filters
    maintenance    create, refresh, optimize, vacuum, drop
    builders       from files to rows of statistics
    store          manifests, versions, optimistic commits
    sketches       what is kept of a column: bounds, Bloom filters, value lists, ...
    builder        the interface between ``builders`` and ``store``
    definition     what an index holds
    presence       whether a table has own indexes

Each folder imports only those below it.
"""
