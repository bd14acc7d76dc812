"""Whether a table's merged rows hold only values that some file of the slice holds (C3).

Every rule that Hudi ships picks each value from one of the versions of a row: by commit time, by event time, or column
by column for partial updates. A payload or merger of the user's own can compute new values; a slice with log files of
such a table is unknown. So is one of a table that names anything which Hudi 0.15 to 1.2 does not. Source:
``HoodieTableConfig``, ``RecordMergeMode``, ``PartialUpdateMode``, ``HoodieRecordMerger``.

Facts: docs/facts/hudi-merging.md.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "COMMIT_TIME_STRATEGY",
    "EVENT_TIME_STRATEGY",
    "PAYLOAD_PACKAGE",
    "merges_to_stored_values",
    "merges_whole_records",
]

#: The package of Hudi's payload classes.
PAYLOAD_PACKAGE = "org.apache.hudi.common.model"
_PICKING_MODES = frozenset({"COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"})
_PICKING_PAYLOADS = frozenset(
    {
        f"{PAYLOAD_PACKAGE}.OverwriteWithLatestAvroPayload",
        f"{PAYLOAD_PACKAGE}.DefaultHoodieRecordPayload",
        f"{PAYLOAD_PACKAGE}.EventTimeAvroPayload",
        f"{PAYLOAD_PACKAGE}.PartialUpdateAvroPayload",
        f"{PAYLOAD_PACKAGE}.OverwriteNonDefaultsWithLatestAvroPayload",
        f"{PAYLOAD_PACKAGE}.FirstValueAvroPayload",  # the first of equal event times
        f"{PAYLOAD_PACKAGE}.AWSDmsAvroPayload",
        "org.apache.hudi.payload.AWSDmsAvroPayload",  # the latest, or a deletion
        f"{PAYLOAD_PACKAGE}.debezium.MySqlDebeziumAvroPayload",  # by binlog position
        f"{PAYLOAD_PACKAGE}.debezium.PostgresDebeziumAvroPayload",
    }
)  # by log sequence number; the old value for a toasted one
#: Of these the ones that take some columns of one version, and others of another.
_MIXING_PAYLOADS = frozenset(
    {
        f"{PAYLOAD_PACKAGE}.PartialUpdateAvroPayload",
        f"{PAYLOAD_PACKAGE}.OverwriteNonDefaultsWithLatestAvroPayload",
        f"{PAYLOAD_PACKAGE}.debezium.PostgresDebeziumAvroPayload",
    }
)
_PARTIAL_UPDATES = frozenset({"IGNORE_DEFAULTS", "FILL_UNAVAILABLE"})  # the old value for a default, for a marker
#: The ids of the merge strategies by event time and by commit time.
EVENT_TIME_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
_BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"
_STRATEGIES = frozenset({EVENT_TIME_STRATEGY, COMMIT_TIME_STRATEGY, _BY_PAYLOAD})


def merges_to_stored_values(properties: Mapping[str, str]) -> bool:
    """False when the table names a merge mode, strategy, payload or partial update that is not known to pick only."""
    mode = properties.get("hoodie.record.merge.mode", "").upper()
    strategy = (
        properties.get("hoodie.record.merge.strategy.id")
        or properties.get("hoodie.compaction.record.merger.strategy", "")
    ).lower()
    payloads = [
        name
        for key in ("hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class")
        if (name := properties.get(key))
    ]
    partial = properties.get("hoodie.table.partial.update.mode", "").upper()
    if partial and partial not in _PARTIAL_UPDATES:
        return False
    if not _PICKING_PAYLOADS.issuperset(payloads):
        return False
    if strategy and strategy not in _STRATEGIES:
        return False
    if mode in _PICKING_MODES:
        return True
    if mode:  # CUSTOM: safe only as another way to say "by payload"
        return strategy == _BY_PAYLOAD and bool(payloads)
    return True  # version 6: by payload, the default one picks the latest


def merges_whole_records(properties: Mapping[str, str]) -> bool:
    """Whether all values of a merged row are those of one version of it; partial updates in log files set aside."""
    payloads = {
        properties.get(key, "") for key in ("hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class")
    }
    return (
        merges_to_stored_values(properties)
        and not payloads & _MIXING_PAYLOADS
        and not properties.get("hoodie.table.partial.update.mode")
    )
