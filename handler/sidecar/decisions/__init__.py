"""Decisions: which file slices a filter skips, and where that is worked out, so that no filter costs the others.

planning             a filter and a table to a ``PlannedFilter``, within limits
planning_process     the process of low priority that plans what exceeds the small limits
expensive_filters    who may wait for that process, and for how long
"""
