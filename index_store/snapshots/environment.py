"""The cache that the environment names.

    SARGO_CACHE             a local folder; the URI of a shared one; or "off". By default the user's cache folder
    SARGO_CACHE_BYTES       bytes that the local folder may hold
    SARGO_CACHE_KEY_FILE    a file with the key that seals what is shared
    SARGO_CACHE_TRUST       "writers": without a key, whoever may write into the shared folder is trusted

Beside a shared folder, the user's cache folder is the local one; a temporary folder where that cannot be used.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from index_store.snapshots.cache import DEFAULT_LIMIT, SnapshotCache
from index_store.snapshots.shared_folder import SharedFolder

__all__ = ["default_cache"]

VARIABLE, LIMIT_VARIABLE = "SARGO_CACHE", "SARGO_CACHE_BYTES"
KEY_VARIABLE, TRUST_VARIABLE = "SARGO_CACHE_KEY_FILE", "SARGO_CACHE_TRUST"
_MAX_KEY = 64 << 10


def default_cache() -> SnapshotCache | None:
    """The cache that the environment names; None when SARGO_CACHE is "off".

    It may be refused later on (``SnapshotCache.is_trusted``): so is a shared folder without a usable key.
    """
    named = os.environ.get(VARIABLE, "")
    if named.lower() == "off":
        return None
    try:
        limit = int(os.environ.get(LIMIT_VARIABLE, "") or DEFAULT_LIMIT)
    except ValueError:
        limit = DEFAULT_LIMIT
    if "://" not in named:
        return SnapshotCache(named or _users(), limit)
    trusts = os.environ.get(TRUST_VARIABLE, "") == "writers"
    return SnapshotCache(
        _local(_users()), limit, shared=_shared(named, os.environ.get(KEY_VARIABLE, ""), trusts_writers=trusts)
    )


@cache
def _shared(uri: str, key_file: str, *, trusts_writers: bool) -> SharedFolder:
    """One for the process: all tables know when it does not answer."""
    key, fault = None, ""
    if key_file:
        try:
            with Path(key_file).open("rb") as file:
                key = file.read(_MAX_KEY).strip()
            return SharedFolder(uri, key, trusts_writers=trusts_writers)
        except OSError as error:
            fault = f"{KEY_VARIABLE} {key_file}: {error.strerror}"
        except ValueError as error:
            fault = f"{KEY_VARIABLE} {key_file}: {error}"
    return SharedFolder(uri, trusts_writers=trusts_writers and not fault, fault=fault)


def _users() -> Path:
    return user_cache_path("sargo") / "snapshots"


def _local(folder: Path) -> Path:
    """The folder, or a temporary one when it is not the caller's alone, or cannot be written."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if os.access(there, os.W_OK | os.X_OK) and not SnapshotCache(folder).why_refused():
        return folder
    return _temporary()


@cache
def _temporary() -> Path:
    folder = tempfile.mkdtemp(prefix="sargo-snapshots-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
