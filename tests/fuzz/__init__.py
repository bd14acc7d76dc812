"""Fuzzers: hostile input, drawn from a seed, against the invariants of SECURITY.md.

.venv/bin/python -m tests.fuzz                          all of them, two at a time
.venv/bin/python -m tests.fuzz kryo --seconds 60 --seed 1
.venv/bin/python -m tests.fuzz kryo --repeat AQEAamF2...   one input again, as Base64 or a file

fuzzer     the protocol: draw a case, check it, make it smaller
campaign   cases until the time is over, with bounds on CPU and memory; shrinks what fails
runs       a process for each fuzzer, which may die
kryo       filters of real Hive, mutated as Kryo items, as object graphs and as bytes
sql        conditions by a grammar, and mutated real ones
table      real tables with damaged files
frames     a sidecar under hostile Thrift frames
index      own indexes whose writers are killed
"""
