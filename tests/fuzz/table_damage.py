"""Damage to the files of a table: bytes, lengths, digits, and whole files that are missing, swapped or half written.

``tests.torture`` tries every single byte, in memory. Here several files suffer at once, on a real file system: there a
file may be missing, a folder or a link.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Edit", "drawn_edit", "is_decisive", "put_back", "put_down"]

_INTEGERS = (0, 1, -1, 2, 255, 2**15, 2**16, 2**24, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1)


@dataclass(frozen=True)
class Edit:
    """``what`` happens to the file at ``path``: "write" gives it ``data``, "remove" takes it away, "folder" and "link"
    put something else in its place.
    """

    path: str
    what: str
    data: bytes = b""


def is_decisive(edit: Edit, files: Mapping[str, bytes]) -> bool:
    """Whether the table means something else afterwards, so that the truth of before no longer holds.

    An instant of the table itself that is not there has not happened, one that is there has, and an old one is the
    start of the timeline. Rows are what the data files say.
    """
    if not edit.path.startswith(".hoodie/"):
        return True
    in_metadata_table = edit.path.startswith(".hoodie/metadata/")
    is_gone = edit.what != "write" or not edit.data
    is_new = edit.path not in files
    return not in_metadata_table and (is_gone or is_new or edit.path.endswith("hoodie.properties"))


def put_down(root: Path, edit: Edit) -> None:
    """Damage the file."""
    path = root / edit.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    match edit.what:
        case "write":
            path.write_bytes(edit.data)
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(path)


def put_back(root: Path, edit: Edit, files: Mapping[str, bytes]) -> None:
    """Undo the damage."""
    path = root / edit.path
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    if edit.path in files:
        path.write_bytes(files[edit.path])


def drawn_edit(rng: random.Random, files: Mapping[str, bytes], paths: Sequence[str]) -> Edit:
    """Damage to one of the paths. Small files are drawn as often as large ones."""
    path = rng.choice(paths)
    data = files[path]
    match rng.randrange(20):
        case 0:
            return Edit(path, "remove")
        case 1:
            return Edit(path, "write", b"")
        case 2:
            return Edit(path, "write", data[: rng.randrange(len(data) + 1)])
        case 3:  # the content of another file of its kind, or of any
            same = [other for other in paths if Path(other).suffix == Path(path).suffix] or list(paths)
            return Edit(path, "write", files[rng.choice(same if rng.random() < 0.8 else paths)])
        case 4:
            name = rng.choice(
                ("garbage", "20991231235959999.commit", "20991231235959999.deltacommit.requested", "x.inflight",
                 "20200101000000000_20200101000000001.deltacommit", "00000000000000000.rollback", ".tmp", "log.1")
            )  # fmt: skip
            return Edit(f"{path.rpartition('/')[0]}/{name}", "write", rng.choice((b"", b"{}", data, b"\0" * 40)))
        case 5 if rng.random() < 0.3:
            return Edit(path, rng.choice(("folder", "link")))
        case _:
            return Edit(path, "write", _damaged(rng, data))


def _damaged(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not out:
            return b"\0"
        rng.choice(_WAYS)(rng, out, rng.randrange(len(out)))
    return bytes(out)


def _bit(rng: random.Random, out: bytearray, at: int) -> None:
    out[at] ^= 1 << rng.randrange(8)


def _byte(rng: random.Random, out: bytearray, at: int) -> None:
    out[at] = rng.randrange(256)


def _digit(rng: random.Random, out: bytearray, at: int) -> None:
    """Another digit for the digit at this place or behind it."""
    for place in range(at, min(len(out), at + 4000)):
        if 48 <= out[place] <= 57:
            out[place] = rng.choice(b"0123456789".replace(bytes([out[place]]), b""))
            return


def _integer(rng: random.Random, out: bytearray, at: int) -> None:
    """A length that lies, in both byte orders."""
    form, value = rng.choice((("!i", 4), (">q", 8), ("<i", 4), (">H", 2)))[0], rng.choice(_INTEGERS)
    width = struct.calcsize(form)
    value &= (1 << 8 * width) - 1
    if form != ">H" and value >> (8 * width - 1):
        value -= 1 << 8 * width
    out[at : at + width] = struct.pack(form, value)


def _varint(rng: random.Random, out: bytearray, at: int) -> None:
    out[at : at + 1] = rng.choice(
        (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80\x80\x80\x80\x08", b"\x01", b"\x7f")
    )


def _zeros(rng: random.Random, out: bytearray, at: int) -> None:
    length = min(rng.choice((4, 16, 512, 4096)), len(out) - at)
    out[at : at + length] = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))


def _less(rng: random.Random, out: bytearray, at: int) -> None:
    del out[at : at + rng.choice((1, 4, 100, 1000))]


def _more(rng: random.Random, out: bytearray, at: int) -> None:
    start = rng.randrange(len(out))
    out[at:at] = out[start : start + rng.choice((1, 8, 300, 5000))]


_WAYS: tuple[Callable[[random.Random, bytearray, int], None], ...] = (
    _bit, _byte, _digit, _digit, _integer, _varint, _zeros, _less, _more,
)  # fmt: skip
