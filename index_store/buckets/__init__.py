"""Hudi's buckets (RFC-29): which file group a record key belongs to, for pruning, for writers and for plans."""
