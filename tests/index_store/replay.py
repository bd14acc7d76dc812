"""File slices a second way: by replaying what each commit says it wrote, with no listing and no metadata table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fastavro


def commits(table: Path) -> list[tuple[str, str, str, dict[str, Any]]]:
    """(completed, requested, action, metadata) of completed writes, in the order of completion."""
    folder = table / ".hoodie" / "timeline"
    folder = folder if folder.exists() else table / ".hoodie"
    found = []
    for path in folder.iterdir():
        match = re.fullmatch(r"(\d+)(?:_(\d+))?\.(commit|deltacommit|replacecommit)", path.name)
        if match:
            data = path.read_bytes()
            if data.startswith(b"Obj"):
                with path.open("rb") as stream:
                    metadata = next(iter(fastavro.reader(stream)))
            else:
                metadata = json.loads(data)
            found.append((match[2] or match[1], match[1], match[3], metadata))
    return sorted(found, key=lambda commit: commit[:2])


def replay(table: Path, until: str = "9" * 20) -> dict[tuple[str, str], tuple[str | None, frozenset[str]]]:
    """(partition, file id) -> (base file name, log file names) after the commits requested up to an instant."""
    bases: dict[tuple[str, str], tuple[str, str]] = {}
    logs: dict[tuple[str, str], dict[str, str]] = {}
    replaced: set[tuple[str, str]] = set()
    for completed, requested, _, metadata in commits(table):
        if requested > until:
            continue
        for partition, stats in metadata["partitionToWriteStats"].items():
            for stat in stats:
                group = partition, stat["fileId"]
                name = stat["path"].rpartition("/")[2]
                if ".log." in name:
                    logs.setdefault(group, {})[name] = completed
                else:
                    bases[group] = requested, name
        for partition, gone in (metadata.get("partitionToReplaceFileIds") or {}).items():
            replaced.update((partition, file_id) for file_id in gone)
    return {
        group: (
            bases[group][1] if group in bases else None,
            frozenset(name for name, done in logs.get(group, {}).items() if done >= bases.get(group, ("",))[0]),
        )
        for group in {*bases, *logs} - replaced
    }
