"""The sidecar: ``sargo serve`` answers over Thrift which of the files that Hive listed may be skipped.

    settings                                  one schema for file, environment and command line
    allowed_roots, sandboxed_file_system      the tables and files that may be read
    slots, connection                         which connections may be open; the bytes and times of one
    server, wire, idl                         TLS, the secret; frames <-> calls of sargo.thrift
    service                                   a request from its check to its reply
    tables, view, sizes                       open tables, kept up to date and within a limit of memory
    names, request_matching                   the listed names, and those of them that may be skipped
    audit, merged                             skipped files, read and evaluated row by row
    metrics, pages, journal, reports, filter_log   what an operator sees
    client                                    for ``sargo doctor`` and ``sargo report``

Needs the extra ``sidecar``. Importing ``handler`` does not import this package.
"""
