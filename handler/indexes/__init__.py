"""What commands and statements do with own indexes: create, refresh, optimize, vacuum, drop."""
