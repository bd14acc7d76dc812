"""Own indexes from the outside: the statements, the definitions that they mean, and the operations that they run.

statements    CREATE INDEX ... ON TABLE '...' USING ...      entries     columns and sketches to a definition
operations    create, refresh, optimize, vacuum, drop        benefit     selectivity scores for reports
"""
