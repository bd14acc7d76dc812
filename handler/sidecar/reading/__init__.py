"""How a table is read for its views.

looks          what shows that a table has changed, and its opening
current_view   the latest view: kept current, and kept for a while when the table cannot be read
"""
