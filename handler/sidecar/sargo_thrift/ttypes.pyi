"""The types of the generated structs for mypy: the compiler writes none. A test compares them with the IDL."""

class PruneRequest:
    """An optional field that was not sent is None. Of what was read from a frame, long bytes are views of the frame."""

    protocol_version: int
    table: str
    filter: bytes | memoryview
    filter_text: str | None
    engine: str
    engine_version: str | None
    time_zone: str | None
    query_type: str | None
    instant: str | None
    names: bytes | memoryview
    names_compressed: bool | None
    name_count: int
    query_id: str | None
    secret: str | None
    user: str | None
    merges_rows: bool | None

    def __init__(
        self,
        protocol_version: int | None = None,
        table: str | None = None,
        filter: bytes | None = None,
        filter_text: str | None = None,
        engine: str | None = None,
        engine_version: str | None = None,
        time_zone: str | None = None,
        query_type: str | None = None,
        instant: str | None = None,
        names: bytes | None = None,
        names_compressed: bool | None = None,
        name_count: int | None = None,
        query_id: str | None = None,
        secret: str | None = None,
        user: str | None = None,
        merges_rows: bool | None = None,
    ) -> None: ...

class PruneReply:
    protocol_version: int
    skip: bytes
    name_count: int
    instant: str | None
    covered: int | None
    skipped: int
    fully_matched: int | None
    report_id: str | None
    reasons: list[str] | None
    digest: int | None

    def __init__(
        self,
        protocol_version: int | None = None,
        skip: bytes | None = None,
        name_count: int | None = None,
        instant: str | None = None,
        covered: int | None = None,
        skipped: int | None = None,
        fully_matched: int | None = None,
        report_id: str | None = None,
        reasons: list[str] | None = None,
        digest: int | None = None,
    ) -> None: ...

class PlanRequest:
    """As PruneRequest."""

    protocol_version: int
    table: str
    filter: bytes | memoryview | None
    filter_text: str | None
    engine: str
    engine_version: str | None
    time_zone: str | None
    query_type: str | None
    instant: str
    instant_count: int
    partitions: bytes | memoryview | None
    partitions_compressed: bool | None
    partition_count: int | None
    query_id: str | None
    secret: str | None
    user: str | None
    accepts_unknown: bool | None
    merges_rows: bool | None

    def __init__(
        self,
        protocol_version: int | None = None,
        table: str | None = None,
        filter: bytes | None = None,
        filter_text: str | None = None,
        engine: str | None = None,
        engine_version: str | None = None,
        time_zone: str | None = None,
        query_type: str | None = None,
        instant: str | None = None,
        instant_count: int | None = None,
        partitions: bytes | None = None,
        partitions_compressed: bool | None = None,
        partition_count: int | None = None,
        query_id: str | None = None,
        secret: str | None = None,
        user: str | None = None,
        accepts_unknown: bool | None = None,
        merges_rows: bool | None = None,
    ) -> None: ...

class PlanReply:
    protocol_version: int
    instant: str
    file_count: int
    names: bytes
    lengths: bytes
    slices: bytes
    slice_count: int
    skipped: int
    fully_matched: int | None
    report_id: str | None
    reasons: list[str] | None
    digest: int
    checksum: int
    unknown_partitions: list[str] | None

    def __init__(
        self,
        protocol_version: int | None = None,
        instant: str | None = None,
        file_count: int | None = None,
        names: bytes | None = None,
        lengths: bytes | None = None,
        slices: bytes | None = None,
        slice_count: int | None = None,
        skipped: int | None = None,
        fully_matched: int | None = None,
        report_id: str | None = None,
        reasons: list[str] | None = None,
        digest: int | None = None,
        checksum: int | None = None,
        unknown_partitions: list[str] | None = None,
    ) -> None: ...

class LayoutRequest:
    """As PruneRequest."""

    protocol_version: int
    table: str
    options: bytes | memoryview
    secret: str | None

    def __init__(
        self,
        protocol_version: int | None = None,
        table: str | None = None,
        options: bytes | None = None,
        secret: str | None = None,
    ) -> None: ...

class LayoutReply:
    protocol_version: int
    buckets: int | None
    columns: list[str] | None
    why: str | None
    instant: str | None

    def __init__(
        self,
        protocol_version: int | None = None,
        buckets: int | None = None,
        columns: list[str] | None = None,
        why: str | None = None,
        instant: str | None = None,
    ) -> None: ...

class AggregateRequest:
    """As PruneRequest."""

    protocol_version: int
    table: str
    filter: bytes | memoryview
    filter_text: str | None
    engine: str
    engine_version: str | None
    time_zone: str | None
    query_type: str | None
    instant: str | None
    names: bytes | memoryview
    names_compressed: bool | None
    name_count: int
    query_id: str | None
    secret: str | None
    user: str | None
    merges_rows: bool | None
    aggregates: bytes | memoryview

    def __init__(
        self,
        protocol_version: int | None = None,
        table: str | None = None,
        filter: bytes | None = None,
        filter_text: str | None = None,
        engine: str | None = None,
        engine_version: str | None = None,
        time_zone: str | None = None,
        query_type: str | None = None,
        instant: str | None = None,
        names: bytes | None = None,
        names_compressed: bool | None = None,
        name_count: int | None = None,
        query_id: str | None = None,
        secret: str | None = None,
        user: str | None = None,
        merges_rows: bool | None = None,
        aggregates: bytes | None = None,
    ) -> None: ...

class AggregateReply:
    protocol_version: int
    answered: bytes
    name_count: int
    answered_count: int
    values: list[str] | None
    types: list[str] | None
    reasons: list[str] | None
    digest: int

    def __init__(
        self,
        protocol_version: int | None = None,
        answered: bytes | None = None,
        name_count: int | None = None,
        answered_count: int | None = None,
        values: list[str] | None = None,
        types: list[str] | None = None,
        reasons: list[str] | None = None,
        digest: int | None = None,
    ) -> None: ...

class Refused(Exception):
    why: str | None
    code: str | None

    def __init__(self, why: str | None = None, code: str | None = None) -> None: ...
