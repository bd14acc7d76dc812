"""Sidecars that are down, slow, wrong or strangers, and scans that are never asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.handler.spark.extension.fake_sidecar import FakeSidecar, Question
from tests.handler.spark.extension.queries import Tables
from tests.handler.spark.extension.telling import ADDRESS, Outcome, Stories

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["faults", "untouched"]


def _everything(question: Question) -> list[str]:
    return question.names


def _refuse(question: Question) -> list[str]:
    raise ValueError("no")


def _another_list(reply: Any) -> None:
    reply.digest += 1


def _miscounted(reply: Any) -> None:
    reply.skipped += 1


def _fewer_names(reply: Any) -> None:
    reply.name_count -= 1


_SPOILT: dict[str, Callable[[FakeSidecar], object]] = {
    "down": lambda fake: fake.close(),
    "slow": lambda fake: setattr(fake, "delay", 5.0),
    "refusing": lambda fake: setattr(fake, "answer", _refuse),
    "answering for another list": lambda fake: setattr(fake, "wrong", _another_list),
    "miscounting": lambda fake: setattr(fake, "wrong", _miscounted),
    "answering for fewer names": lambda fake: setattr(fake, "wrong", _fewer_names),
}


def faults(stories: Stories, tables: Tables) -> None:
    """The scan is as it is without the extension."""
    for title, spoil in _SPOILT.items():
        fake = FakeSidecar()
        fake.answer = _everything
        spoil(fake)
        with stories.set(spark__sargo__sidecar__address=fake.address, spark__sargo__sidecar__timeout__ms="500"):
            stories.tell(
                f"a sidecar {title}", lambda: stories.compare(lambda: tables.frame("cow").where("i = 7"))
            )  # fmt: skip


def bootstrap(stories: Stories) -> None:
    """A table that holds only Hudi's own columns, beside Parquet files that hold the others."""
    options = {
        "hoodie.table.name": "bootstrapped",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.operation": "bootstrap",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.bootstrap.base.path": f"{stories.work}/parquet",
        "hoodie.bootstrap.mode.selector": (
            "org.apache.hudi.client.bootstrap.selector.MetadataOnlyBootstrapModeSelector"
        ),
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
    }
    with stories.set(spark__sargo__enabled="false"):
        rows = stories.rows(0, 40, parts=2).drop("t")
        rows.write.parquet(f"{stories.work}/parquet")
        rows.where("false").write.format("hudi").options(**options).mode("overwrite").save(
            f"{stories.work}/bootstrapped"
        )


def untouched(stories: Stories, tables: Tables) -> None:
    """The sidecar skips every file of every question: a scan that is asked about has no row."""
    bootstrap(stories)
    fake = FakeSidecar()
    fake.answer = _everything
    hudi, cow = tables.spark.read.format("hudi"), f"{tables.folder}/cow"
    incremental = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": tables.first["cow"],
    }
    frames: dict[str, Callable[[], DataFrame]] = {
        "an incremental query": lambda: hudi.options(**incremental).load(cow).where("i > 5"),
        "rows that are not merged": lambda: tables.frame("mor", hoodie__datasource__merge__type="skip_merge").where(
            "i > 5"
        ),
        "columns by their ids": lambda: tables.frame("cow", hoodie__schema__on__read__enable="true").where("i = 7"),
        "partition columns alone": lambda: tables.frame("cow_p").where("p = 'p1'"),
        "a bootstrapped table": lambda: tables.frame("bootstrapped").where("i = 7"),
        "no filter at all": lambda: tables.frame("cow"),
        "changes by a function": lambda: tables.spark.sql(
            f"SELECT id, i FROM hudi_table_changes('{cow}', 'latest_state', 'earliest') WHERE i > 5"
        ),
        "a timeline by a function": lambda: tables.spark.sql(
            f"SELECT * FROM hudi_query_timeline('{cow}', 'true') WHERE state = 'COMPLETED'"
        ),
        "the metadata table by a function": lambda: tables.spark.sql(
            f"SELECT key FROM hudi_metadata('{cow}') WHERE type = 3"
        ),
        "Parquet files": lambda: tables.spark.read.parquet(f"{cow}/*.parquet").where("i = 7"),
    }

    def asked(story: Callable[[], Outcome]) -> Outcome:
        before = len(fake.asked)
        return story() | {"asked": len(fake.asked) - before}

    def believed() -> Outcome:
        outcome = stories.compare(lambda: tables.frame("cow").where("i = 7"))
        return outcome | {"equal": not outcome["rows"]}

    def stream() -> Outcome:
        reader = tables.spark.readStream.format("hudi").load(cow).where("i = 7")
        query = reader.writeStream.format("memory").queryName("streamed").trigger(availableNow=True).start()
        query.awaitTermination()
        rows = tables.spark.table("streamed").count()
        return {"equal": rows == 1, "rows": rows}

    with stories.set(spark__sargo__sidecar__address=fake.address):
        stories.tell("a sidecar that skips everything is believed", lambda: asked(believed))
        for title, make in frames.items():
            stories.tell(f"untouched: {title}", lambda make=make: asked(lambda: stories.compare(make)))  # type: ignore[misc]
        stories.tell("untouched: a stream", lambda: asked(stream))
    address = tables.spark.conf.get(ADDRESS)
    tables.spark.conf.unset(ADDRESS)
    stories.tell(
        "untouched: without an address", lambda: stories.compare(lambda: tables.frame("cow").where("i = 7"))
    )  # fmt: skip
    tables.spark.conf.set(ADDRESS, str(address))
