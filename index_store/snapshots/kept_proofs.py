"""What was proven of the indexes of a table's state, kept in its folder of snapshots, so that it is worked out once.

    names, outcomes    texts (``kinds.record_keys.proofs``)

The file is of one state, the latest that a proof was made for. It has a digest like every file of arrays, so damage is
not taken for a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pyarrow as pa

from evaluator.language.arrow_arrays import to_binary
from index_store.snapshots.arrays_file import ArraysFile, UnusableError, write_arrays
from index_store.snapshots.snapshot import Snapshot

__all__ = ["KeptProofs"]

_NAME = "proofs.arrays"


class KeptProofs:
    """The file of one state of a table. Reading and writing never raise: what is not there is worked out."""

    def __init__(self, snapshot: Snapshot) -> None:
        state = snapshot.manifest.state
        self._file = snapshot.cache.of_table(state).file(_NAME)
        self._about = {"what": "proofs", "table": state.table, "state": state.digest}

    def read(self) -> dict[str, str]:
        """The outcomes by name; none from a file that is damaged or about another state."""
        try:
            stored = ArraysFile.open(self._file, self._about)
            names, outcomes = (_texts(stored, name) for name in ("names", "outcomes"))
            return dict(zip(names, outcomes, strict=True))
        except (UnusableError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def write(self, proofs: Mapping[str, str]) -> None:
        """Keep these beside what was kept of this state."""
        every = {**self.read(), **proofs}
        arrays = {"names": _binary(tuple(every)), "outcomes": _binary(tuple(every.values()))}
        with suppress(OSError, ValueError, pa.ArrowException):
            write_arrays(self._file, arrays, self._about)


def _texts(stored: ArraysFile, name: str) -> list[str]:
    return [one.decode("utf-8", "surrogatepass") for one in stored.texts(name).arrow().to_pylist()]


def _binary(texts: tuple[str, ...]) -> pa.Array:
    return to_binary([text.encode("utf-8", "surrogatepass") for text in texts])
