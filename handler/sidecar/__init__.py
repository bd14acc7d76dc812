"""The sidecar: ``sargo serve`` answers Hive over Thrift which of the files it listed may be skipped.

    settings    one schema for file, environment and flags        roots, confined   which tables may be read
    server      connections, frames, limits, TLS                  wire, idl         frames <-> calls of sargo.thrift
    service     a request from check to reply                     tables, view      open tables, kept up to date
    listed      which listed names an answer may speak of         names            lists of names
    hive_filter what of a filter only Hive can decide             audit, merged    skipped files, row by row
    metrics, journal, reports, pages, filter_log   what operators see
    client      for those who look after it

Needs the extra ``sidecar``. Nothing is imported from here before it is asked for: the rest of Sargo does without it.
"""
