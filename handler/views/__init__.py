"""The output of the commands, the demo and the sidecar: plans, advice, tables and indexes as Rich text and JSON.

A view takes a finished report (``planning``, ``advise``, ``indexes``, ``inspection``) and writes it to a console or
returns plain values for JSON. It opens nothing and decides nothing.
"""
