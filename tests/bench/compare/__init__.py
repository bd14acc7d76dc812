"""Two checkouts side by side: the same hot paths in turns, a process each, and the ratios of their CPU times.

module        holds
-----------   ------------------------------------------------------------------------------------
``hot_paths`` the calls that are timed, by name
``worker``    the process that makes the calls of one checkout, when it is asked to
``checkouts`` the files of a commit, in a folder of their own
``rounds``    turns of the two processes
``ratios``    ratio, spread and verdict of a path
``__main__``  the command: ``python -m tests.bench.compare --base main``
"""
