"""Whether what a sidecar lists (``sargo.listing = sidecar``) is what the directories of the table hold."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from evaluator.language.errors import SargoError
from handler.doctor.findings import Finding
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import PlanReply, Refused
from handler.sidecar.roots.locations import wire_location
from handler.views.texts import visible
from index_store.opened_table import open_table
from index_store.table.directory_listing import ListedDirectories, list_directories
from index_store.table.table import Table

__all__ = ["check_listing"]

#: The partitions whose directories are listed, and the files that a finding names.
_MAX_PARTITIONS, _MAX_NAMED = 16, 5
_BY_HUDI = "with sargo.listing = sidecar, Hudi goes on listing this table"


def check_listing(table: str, client: Client, who: str) -> Iterator[Finding]:
    """Compare the sidecar's listing with directories of the table, at most 16 of them."""
    try:
        opened = open_table(table).table
        last = opened.timeline.last
        if last is None:
            return
        reply = client.plan(wire_location(table), last.requested, len(opened.timeline.writes))
        said = _said(reply)
        partitions = _spread(opened)
        there = list_directories(opened, partitions)
    except Refused as refused:
        if refused.code in ("listing", "instant"):
            yield Finding("listing", "warning", f"{table}: {who} does not list it: {refused.why}", _BY_HUDI)
        return  # other refusals: the check of the table says so
    except ClientError as error:
        yield Finding("listing", "warning", f"{table}: {who} lists no files: {error.why}", _BY_HUDI)
        return
    except SargoError:
        return  # the table cannot be read from here: another check says so
    different = _differences(said, there, set(partitions))
    if different:
        some = "; ".join(visible(text) for text in different[:_MAX_NAMED])
        yield Finding(
            "listing",
            "failed",
            f"{table}: {len(different)} files are not what {who} says of them: {some}",
            "set sargo.listing=hudi, keep the metadata table's files and report it",
        )
    else:
        yield Finding(
            "listing",
            "ok",
            f"{table}: {who} lists {reply.file_count} files; of {len(partitions)} partitions they are those on disk",
        )


def _said(reply: PlanReply) -> dict[str, int]:
    """The bytes of each file of a reply, by path. Raises ClientError."""
    try:
        text = zlib.decompress(reply.names).decode()
        lengths = np.frombuffer(zlib.decompress(reply.lengths), "<i8").tolist()
    except (zlib.error, UnicodeDecodeError, ValueError) as error:
        raise ClientError(f"its columns cannot be read: {error}") from error
    names = text.split("\n") if text else []
    if not len(names) == len(lengths) == reply.file_count:
        raise ClientError("its columns are of different lengths")
    return dict(zip(names, lengths, strict=True))


def _spread(table: Table) -> list[str]:
    """Partitions of the table, from the first to the last."""
    every = table.partitions()
    chosen = np.linspace(0, len(every) - 1, min(len(every), _MAX_PARTITIONS)).round().astype(int)
    return [every[number] for number in sorted(set(chosen.tolist()))]


def _differences(said: dict[str, int], there: ListedDirectories, partitions: set[str]) -> list[str]:
    """What is wrong, a text for each file. A log file may have grown since its commit."""
    expected = {file: item.base_file == file for item in there.slices for file in item.files}
    listed = {file: size for file, size in said.items() if file.rpartition("/")[0] in partitions}
    found = [f"{file} is not listed" for file in expected if file not in listed]
    for file, size in listed.items():
        if file not in expected:
            found.append(f"{file} is listed, and is none of the latest slices on disk")
        elif there.sizes[file] != size if expected[file] else there.sizes[file] < size:
            found.append(f"{file} has {there.sizes[file]} bytes on disk, not {size}")
    return found
