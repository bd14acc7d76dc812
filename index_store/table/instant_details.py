"""The content of an instant's file: JSON in version 6, Avro from version 8 on (``TimelineMetadataUtils``).

The fields that are read have the form that Hudi writes, or the file is refused: a writer's schema could give them any.

    extraMetadata                 name -> text
    partitionToWriteStats         partition -> records, of which ``path`` and ``prevCommit`` are text
    partitionToReplaceFileIds     partition -> file ids
    partitionMetadata             partition -> record of a clean, or of a savepoint
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from index_store.formats.bounded.avro_container import MAGIC, first_record
from index_store.formats.bounded.json_text import MAX_COMMIT, parse_json
from index_store.storage.errors import FormatError

__all__ = ["is_of_another", "read_details", "rows_written"]

_WHAT = "the instant's metadata"
#: The end of a base file's name: the instant that wrote it.
_WRITER = re.compile(rb"_(\d{14,17})\.(?:parquet|orc|hfile)\b")


def is_of_another(data: bytes, requested: str) -> bool:
    """Whether the content of a commit names base files of other instants only: a copy of another commit's file.

    Its schema and its replaced file groups are of another time. A commit that names no base file has no such proof.
    """
    return f"_{requested}.".encode() not in data and _WRITER.search(data) is not None


def read_details(data: bytes) -> Mapping[str, Any]:
    """The record in an instant's file; {} for a file without one. Raises FormatError."""
    if not data:
        return {}
    record: Any = first_record(data) if data.startswith(MAGIC) else parse_json(data, _WHAT, MAX_COMMIT)
    if record is None:
        return {}
    if not isinstance(record, Mapping):
        raise FormatError(f"{_WHAT} is not a record")
    for name, has_form in _FORMS.items():
        field = record.get(name)
        if field is not None and not (isinstance(field, Mapping) and all(map(has_form, field.values()))):
            raise FormatError(f"{_WHAT} has a field {name} of another form")
    for name in ("operationType", "earliestCommitToRetain"):
        if not _is_text(record.get(name)):
            raise FormatError(f"{_WHAT} has a field {name} that is not text")
    return record


def rows_written(details: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Path and rows of each Parquet base file that a commit wrote: ``numWrites`` counts all rows of a file."""
    for stats in (details.get("partitionToWriteStats") or {}).values():
        for one in stats or ():
            path, count = one.get("path"), one.get("numWrites")
            if isinstance(path, str) and path.endswith(".parquet") and isinstance(count, int) and count > 0:
                yield path, count


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _list_of(is_item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or (isinstance(value, list) and all(map(is_item, value)))


def _with_texts(names: Iterable[str], of: Callable[[Any], bool] = _is_text) -> Callable[[Any], bool]:
    names = tuple(names)
    return lambda value: isinstance(value, Mapping) and all(of(value.get(name)) for name in names)


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "extraMetadata": _is_text,
    "partitionToWriteStats": _list_of(_with_texts(("path", "prevCommit"))),
    "partitionToReplaceFileIds": _list_of(_is_name),
    "partitionMetadata": _with_texts(
        ("successDeleteFiles", "deletePathPatterns", "savepointDataFile"), _list_of(_is_name)
    ),
}
