"""Files that an installation carries beside its code: the jar for Hive, the files of ``hive_conf``, OwnScans.

A wheel has them in this folder, where ``setup.py`` puts them. A checkout has them where they are written and built.
"""
