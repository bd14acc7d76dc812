"""Every table may be read: the roots of a sidecar inside of the process whose user reads the tables anyway.

    file:/w/t   file:///w/t   /w/t    the local path, followed through its links
    s3a://bucket/t   hdfs://nn/t      under the name that the client takes, with the driver's storage options

Locations are checked as ``allowed_roots`` does: what is malformed is refused. Local files are not confined to a folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from handler.sidecar.idl import Refused
from handler.sidecar.roots.allowed_roots import AllowedRoots, AllowedTable, split_location
from handler.sidecar.roots.cluster_names import ClusterNames
from index_store.storage.hadoop_configuration import configuration_folder, hadoop_properties

__all__ = ["AnyTable"]


class AnyTable(AllowedRoots):
    """Allowed roots without a root: whatever is a location of a table is allowed."""

    def __init__(self) -> None:
        self._options_of = lambda _: {}
        try:
            properties = hadoop_properties(configuration_folder())
        except ValueError:  # names of clusters are taken as they are
            properties = {}
        self._names = ClusterNames(properties, ())
        self._roots = ()

    def check(self, options: Mapping[str, str] | None = None, seconds: float = 10.0) -> dict[str, str]:
        """There is no root that could not be read."""
        del options, seconds
        return {}

    def locate(self, table: str) -> AllowedTable:
        """The table that a request names. Raises Refused for what is no location."""
        try:
            scheme, authority, path = split_location(table)
        except ValueError as error:
            raise Refused("table", f"the table's path {error}") from error
        if scheme == "file":
            return AllowedTable(os.path.realpath(path))
        scheme, authority = self._names.spelled(scheme, authority)
        return AllowedTable(f"{scheme}://{authority}{path}")
