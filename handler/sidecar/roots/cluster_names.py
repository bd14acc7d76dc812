"""The names of one cluster or bucket: which scheme and authority mean the same place.

    hdfs://nn             hdfs://nn:8020                  Hadoop's default port, unless ``nn`` is a nameservice
    hdfs://127.0.0.1:P    hdfs://localhost:P              also of webhdfs
    hdfs:///t             fs.defaultFS                    where that is an hdfs:// URI
    hdfs://nn1:8020       hdfs://lake                     nn1 is a namenode of the nameservice lake (dfs.ha.namenodes)
    webhdfs://nn1:9870    hdfs://nn1:8020                 the HTTP and RPC addresses of one namenode
    s3a://b   s3n://b     s3://b

The last lines but one come from Hadoop's configuration files, and aliases of the settings add to them. Names that are
equal only by guess stay different: clusters of the configuration that claim the same name are left out, the default
port of WebHDFS depends on the version, and host names are never resolved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from handler.sidecar.roots.locations import read_location
from handler.sidecar.settings import SettingsError

__all__ = ["HADOOP_SCHEMES", "ClusterNames", "Place"]

#: Scheme and authority.
Place = tuple[str, str]

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
#: The schemes whose clusters Hadoop's configuration names.
HADOOP_SCHEMES = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs"})
_LOOPBACK = frozenset({"hdfs", "webhdfs", "swebhdfs"})
_DEFAULT_PORT = "8020"
#: The addresses of a namenode, and the scheme that each of them serves.
_ADDRESSES = (("hdfs", "rpc-address"), ("webhdfs", "http-address"), ("swebhdfs", "https-address"))
_PORT = re.compile(r":[0-9]+\Z")
_ANY_HOST = frozenset({"0.0.0.0", "[::]", ""})


class ClusterNames:
    """Names and their normal forms. Raises SettingsError for an alias that cannot be meant."""

    def __init__(self, properties: Mapping[str, str], aliases: Iterable[str] = ()) -> None:
        """``properties``: of Hadoop's configuration (``hadoop_configuration``). ``aliases``: ``hdfs://nn=hdfs://lake``."""
        self._nameservices = _nameservices(properties)
        self._default: Place | None = None
        default = properties.get("fs.defaultFS") or properties.get("fs.default.name") or ""
        scheme, separator, rest = default.partition("://")
        authority = rest.partition("/")[0]
        if separator and authority and scheme.lower() in HADOOP_SCHEMES:
            self._default = self._plain(scheme, authority)
        self._group: dict[Place, Place] = {}
        self._clusters: set[Place] = set()
        groups = list(self._configured(properties))
        claims = Counter(place for group in groups for place in set(group))
        for group in groups:
            if all(claims[place] == 1 for place in group):
                self._group.update(dict.fromkeys(group, group[0]))
                self._clusters.add(group[0])
        if self._default is not None and self._default[0] == "hdfs":
            self._clusters.add(self._find(self._default))
        self._add(aliases)

    def normal(self, scheme: str, authority: str) -> Place:
        """The form that all names of the place have, in lower case."""
        return self._find(self._plain(scheme, authority))

    def spelled(self, scheme: str, authority: str) -> Place:
        """The name itself as clients want it: a nameservice as the configuration writes it, else in lower case."""
        lower = _lower(authority)
        scheme = _SCHEMES.get(scheme, scheme)
        return scheme, self._nameservices.get(lower, lower) if scheme in HADOOP_SCHEMES else lower

    def _find(self, place: Place) -> Place:
        while (above := self._group.get(place, place)) != place:
            place = above
        return place

    def _plain(self, scheme: str, authority: str) -> Place:
        """The form of a name that needs no other name."""
        scheme = _SCHEMES.get(scheme.lower(), scheme.lower())
        authority = _lower(authority)
        if not authority and self._default is not None and self._default[0] == scheme:
            return self._default
        if scheme in _LOOPBACK and authority and authority not in self._nameservices:
            port = _PORT.search(authority)
            host = authority[: port.start()] if port else authority
            number = port[0] if port else f":{_DEFAULT_PORT}" if scheme == "hdfs" and not host.endswith(":") else ""
            authority = f"{'localhost' if host == '127.0.0.1' else host}{number}"
        return scheme, authority

    def _configured(self, properties: Mapping[str, str]) -> Iterator[list[Place]]:
        """The names of each cluster of the configuration, the same one first."""
        for lower, name in self._nameservices.items():
            places = [("hdfs", lower), ("webhdfs", lower), ("swebhdfs", lower)]
            for node in _words(properties.get(f"dfs.ha.namenodes.{name}", "")):
                places += self._addresses(properties, f".{name}.{node}")
            yield places
        single = [
            f".{name}"
            for name in _words(properties.get("dfs.nameservices", ""))
            if f"dfs.ha.namenodes.{name}" not in properties
        ]
        for suffix in single or ([""] if not self._nameservices else []):
            places = self._addresses(properties, suffix)
            if places:
                yield places

    def _addresses(self, properties: Mapping[str, str], suffix: str) -> list[Place]:
        """The names of one namenode, the RPC address first; none when that one is not known."""
        found: list[Place] = []
        rpc_host = ""
        for scheme, key in _ADDRESSES:
            address = properties.get(f"dfs.namenode.{key}{suffix}", "")
            if not address and scheme == "hdfs" and not suffix and self._default and self._default[0] == "hdfs":
                address = self._default[1]
            address = _lower(address)
            port = _PORT.search(address)
            host = address[: port.start()] if port else address
            if scheme == "hdfs":
                if host in _ANY_HOST:
                    return []
                rpc_host = host
            elif port is None:
                continue
            elif host in _ANY_HOST:
                host = rpc_host
            found.append(self._plain(scheme, f"{host}{port[0] if port else ''}"))
        return found

    def _add(self, aliases: Iterable[str]) -> None:
        targets: dict[Place, Place] = {}
        for text in aliases:
            names = text.split("=")
            if len(names) != 2:
                raise SettingsError(f"aliases: {text!r} is not of the form hdfs://name=hdfs://other")
            left, right = (self._plain(*_place(name, text)) for name in names)
            if targets.setdefault(left, right) != right:
                raise SettingsError(f"aliases: {names[0].strip()} is given for two places")
            one, other = self._find(left), self._find(right)
            if one == other:
                continue
            if one in self._clusters and other in self._clusters:
                raise SettingsError(
                    f"aliases: {text!r} joins two clusters that Hadoop's configuration tells apart "
                    f"({one[0]}://{one[1]} and {other[0]}://{other[1]})"
                )
            if one in self._clusters:
                one, other = other, one
            self._group[one] = other


def _place(text: str, whole: str) -> Place:
    """Scheme and authority of one side of an alias. Raises SettingsError."""
    try:
        scheme, authority, path = read_location(text.strip())
    except ValueError as error:
        raise SettingsError(f"aliases: {whole!r} {error}") from error
    if scheme == "file" or path not in ("", "/") or (not authority and scheme not in HADOOP_SCHEMES):
        raise SettingsError(
            f"aliases: {whole!r} must name clusters or buckets without a path: hdfs://name=hdfs://other"
        )
    if "@" in authority:
        raise SettingsError("aliases: a name holds a user")
    return scheme, authority


def _nameservices(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Nameservices with several namenodes, by their names in lower case; without those that differ only in case."""
    found: dict[str, str] = {}
    ambiguous = set()
    for name in _words(properties.get("dfs.nameservices", "")):
        if f"dfs.ha.namenodes.{name}" in properties and found.setdefault(_lower(name), name) != name:
            ambiguous.add(_lower(name))
    return {lower: name for lower, name in found.items() if lower not in ambiguous}


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _lower(text: str) -> str:
    """In lower case, but for text beyond ASCII: some of its letters would become others, as the sign of Kelvin a k."""
    return text.lower() if text.isascii() else text
