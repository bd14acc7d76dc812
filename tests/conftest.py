"""No test writes into the user's cache of snapshots; those that are about snapshots name a folder of their own."""

import os

os.environ["SARGO_CACHE"] = "off"
