"""Where bytes are: file systems, ranged reads, retries, masking of secrets, and the errors of this package.

Imports nothing of the other folders.
"""
