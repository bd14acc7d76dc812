"""A filter meets a schema: names resolved, literals converted, the required statistics and the rule table.

Imports ``language``, ``functions`` and ``statistics``.
"""
