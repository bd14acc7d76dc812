"""What a sidecar does before its health says "ok".

root_watch    the roots are asked whether they can be read
warm_start    the tables that the settings name are opened
"""
