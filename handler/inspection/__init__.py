"""What there is to know of a table or an installation before any filter: reports and checks."""
