"""One suite of predicates for all engines on tables of real Hudi: the same slices kept, no row lost."""
