"""A store that fails or hangs while the sidecar answers: views that are kept, for how long, and what recovery costs."""

import itertools
import re
import shutil
import time

import pytest

from handler import open_table, prune
from handler.sidecar.reading import current_view
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.s3.store import kinds, rounds, running

FILTERS = {one["sql"]: one["filter"] for one in hive_filters() if one["hive"] == "4.0.1"}
I_IS_100 = FILTERS["i = 100"]
_NUMBERS = itertools.count()
KEPT = "answered from its state of"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


class Lake:
    """A table of its own in the store. ``names``: its files; ``skipped``: those that the filter rules out."""

    def __init__(self, store, local, sidecar, **settings):
        self.store, self.place = store, store.bucket / f"t{next(_NUMBERS)}"
        shutil.copytree(local, self.place)
        self.uri = store.uri(self.place.name)
        self.names = [name for item in open_table(local).at().slices for name in item.files]
        plan = prune(local, I_IS_100, "hive4", time_zone="UTC")
        self.skipped = {name for item in plan.skipped for name in item.files}
        options = {**store.options, "tries": "1", "request_timeout": "100"}
        given = {"refresh_seconds": 0, "refresh_wait_seconds": 30, "request_seconds": 20, **settings}
        self.running = sidecar(roots=["s3://lake"], storage_options=options, **given)

    def ask(self, client, **given):
        return client.prune(request(self.uri, given.pop("filter_", I_IS_100), self.names, **given))

    def is_answered(self, reply):
        return skipped_names(self.names, reply) == self.skipped


@pytest.fixture
def lake(store, unpack, sidecar):
    """``lake(table, **settings)``: a table of the test data, by its name or folder, with a sidecar for it."""

    def made(table="1.1.1_main_cow", **settings):
        return Lake(store, unpack(table) if isinstance(table, str) else table, sidecar, **settings)

    return made


@pytest.fixture(autouse=True)
def short_pause(monkeypatch):
    """Between attempts that fail; the tests wait for longer."""
    monkeypatch.setattr(current_view, "PAUSE_SECONDS", 0.1)


def test_a_look_is_two_requests_in_one_round(lake):
    table = lake()
    with table.running.client() as client:
        assert table.is_answered(table.ask(client))
        table.store.take()
        asked = []
        for _ in range(2):
            with table.store.answering(latency=0.15):
                table.ask(client)
                asked.append(table.store.take())
    assert [len(one) for one in asked] == [2, 2]
    assert [rounds(one) for one in asked] == [1, 1]
    assert all(any(".hoodie/timeline" in found["path"] for found in one) for one in asked)
    assert [kinds(one)["LIST"] for one in asked] == [1, 2]  # with the properties, and with the own indexes


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("1.1.1_main_cow", "503"),
        ("1.1.1_main_mor", "500"),
        ("0.15.0_main_cow", "429"),
        ("1.1.1_main_cow", "reset"),
        ("1.1.1_main_mor", "cut"),
    ],
)
def test_a_failure_that_may_pass_keeps_the_view_and_costs_nothing_when_it_has_passed(lake, name, fault):
    table = lake(name)
    with table.running.client() as client:
        before = table.ask(client)
        assert table.is_answered(before)
        with table.store.answering({"kind": fault}):
            kept = table.ask(client)
            assert table.running.metric("sargo_tables_kept") == 1
        assert table.is_answered(kept)
        assert KEPT in kept.reasons[0]
        assert before.instant in kept.reasons[0]
        assert table.store.uri("") in kept.reasons[0]
        time.sleep(0.2)  # the pause after a failure
        table.store.take()
        after = table.ask(client)
        asked = table.store.take()
    assert table.is_answered(after)
    assert not any(KEPT in reason for reason in after.reasons)
    assert len(asked) == 2, asked
    assert table.running.metric("sargo_tables_kept") == 0


@pytest.mark.nightly
def test_a_kept_view_tells_its_age_and_ends_with_its_limit(lake):
    table = lake(keep_view_seconds=6)
    with table.running.client() as client:
        table.ask(client)
        with table.store.answering({"kind": "503"}):
            time.sleep(1.2)
            kept = table.ask(client)
            assert re.search("could not be read for [1-5] s", kept.reasons[0])
            time.sleep(5)
            late = table.ask(client)
            assert late.skip == b""
            assert late.reasons[0] == "the table cannot be opened"
            assert "503" in late.reasons[1]
        time.sleep(0.2)
        table.store.take()
        assert table.is_answered(table.ask(client))
        assert len(table.store.take()) == 2  # the view was not dropped: nothing is read again


def test_no_view_is_kept_when_the_setting_says_so(lake):
    table = lake(keep_view_seconds=0)
    with table.running.client() as client:
        table.ask(client)
        with table.store.answering({"kind": "503"}):
            assert table.ask(client).skip == b""
        assert len(table.running.sidecar.service.tables) == 0


@pytest.mark.parametrize("fault", ["403", "404", "400"])
def test_a_right_that_is_taken_away_drops_the_view(lake, fault):
    table = lake(retry_seconds=0)
    with table.running.client() as client:
        table.ask(client)
        with table.store.answering({"kind": fault}):
            assert table.ask(client).skip == b""
            assert len(table.running.sidecar.service.tables) == 0
        assert table.is_answered(table.ask(client))


@pytest.mark.parametrize("what", ["dropped", "replaced", "properties"])
def test_a_table_that_is_gone_or_another_is_not_answered_for(lake, unpack, what):
    table = lake(retry_seconds=0)
    with table.running.client() as client:
        table.ask(client)
        for _ in range(2):
            table.ask(client)
        if what == "properties":
            (table.place / ".hoodie/hoodie.properties").unlink()
            table.ask(client)  # every second look reads them
        else:
            shutil.rmtree(table.place)
        if what == "replaced":
            shutil.copytree(unpack("1.1.1_nonpart_mor"), table.place)
        reply = table.ask(client)
    assert (reply.skip, reply.covered) == (b"", 0)


def test_log_files_that_are_appended_to_are_not_answered_for_from_a_kept_view(lake, unpack, tmp_path):
    local = shutil.copytree(unpack("0.15.0_main_cow"), tmp_path / "t")
    properties = local / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text().replace("COPY_ON_WRITE", "MERGE_ON_READ"))
    table = lake(local)
    with table.running.client() as client:
        assert table.is_answered(table.ask(client))
        with table.store.answering({"kind": "503"}):
            fresh = table.ask(client)
            assert fresh.skip == b""
            assert fresh.reasons[0] == "the table cannot be opened"
            kept = table.ask(client, query_type="read_optimized")
            assert table.is_answered(kept)
            assert KEPT in kept.reasons[0]


def test_a_table_whose_names_may_change_is_not_answered_for_from_a_kept_view(lake, unpack, tmp_path):
    local = shutil.copytree(unpack("1.1.1_main_cow"), tmp_path / "t")
    (local / ".hoodie/.schema").mkdir(exist_ok=True)
    (local / ".hoodie/.schema/20261121024515256.schemacommit").write_text('{"schemas": []}')
    table = lake(local)
    with table.running.client() as client:
        assert table.is_answered(table.ask(client))
        with table.store.answering({"kind": "503"}):
            assert table.ask(client).skip == b""
        time.sleep(0.2)
        assert table.is_answered(table.ask(client))


@pytest.mark.parametrize("place", ["", "timeline", "properties", r"\.sargo"])
def test_a_hang_ends_with_the_look_and_recovery_is_seen_soon(lake, place):
    table = lake(look_seconds=0.5, refresh_wait_seconds=0.1)
    with table.running.client() as client:
        assert table.is_answered(table.ask(client))
        with table.store.answering({"kind": "hang", "path": place}):
            for _ in range(2):
                table.ask(client)  # with each second look, whatever it reads
                wait_for(lambda: not table.running.sidecar.service.tables.is_looking)
            wait_for(lambda: KEPT in " ".join(table.ask(client).reasons))
            assert table.is_answered(table.ask(client))
        wait_for(lambda: not table.ask(client).reasons, seconds=40)
        assert table.is_answered(table.ask(client))


def test_an_opening_that_hangs_is_begun_once_more_when_a_look_is_answered(lake):
    table = lake(look_seconds=1.5, request_seconds=0.5)
    with table.running.client() as client:
        with table.store.answering({"kind": "hang", "path": r"\.hoodie/metadata"}):
            early = table.ask(client)
            assert early.skip == b""
            assert "the table is still being opened" in early.reasons[1]
            listing = f"{table.place.name}/.hoodie/metadata/files/"  # it is asked for again beside the first
            wait_for(lambda: sum(one["path"].endswith(listing) for one in table.store.server.requests) == 2)
        wait_for(lambda: table.is_answered(table.ask(client)), seconds=40)  # a read that hangs ends after 60 s
