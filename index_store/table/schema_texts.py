"""The Avro schemas that a table's commits tell, as text."""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from index_store.formats.bounded.json_text import MAX_COMMIT
from index_store.table.commit_schema import find_schema
from index_store.table.timeline import END_OF_TIME, Timeline

__all__ = ["SchemaTexts"]


class SchemaTexts:
    """Each answer is a schema's text and the file of the commit that tells it; ("", "") where no commit tells one."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    @cached_property
    def latest(self) -> tuple[str, str]:
        """That of the latest commit that has one."""
        return self._until(END_OF_TIME)

    def at(self, name: str | None) -> tuple[str, str]:
        """That for a reader as of an instant; by default, and after the last commit, the latest one."""
        last = self._timeline.last
        return self.latest if name is None or last is None or name >= last.requested else self._until(name)

    def _until(self, name: str) -> tuple[str, str]:
        """Of the commits up to an instant; a schema of a table service counts only when no write has one."""
        until = [instant for instant in reversed(self._timeline.writes) if instant.requested <= name]
        setting = (instant for instant in until if self._timeline.may_set_schema(instant))
        for instant in chain(setting, until):
            where = self._timeline.storage
            text = find_schema(where.read(instant.file, MAX_COMMIT)) if where is not None and instant.file else None
            if text is None:
                text = (self._timeline.details(instant).get("extraMetadata") or {}).get("schema")
            if text:
                return str(text), instant.file
        return "", ""
