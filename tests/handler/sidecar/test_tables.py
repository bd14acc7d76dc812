"""Open tables: who waits for whom, when the timeline is looked at again, and that answers stay right meanwhile."""

import shutil
import threading

import pytest

from handler import open_table, prune
from handler.indexes.operations import IndexWork
from handler.sidecar import tables as tables_module
from handler.sidecar.idl import RefusedMessage
from handler.sidecar.reading.looks import TableReader
from handler.sidecar.view import View
from index_store.table.table import Table
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names

FILTERS = {one["sql"]: one["filter"] for one in hive_filters() if one["hive"] == "4.0.1"}
I_IS_100 = FILTERS["i = 100"]


def files(table, as_of=None):
    return [name for item in open_table(table).at(as_of).slices for name in item.files]


@pytest.fixture
def opens(monkeypatch):
    """The paths of the tables that are opened, in order; ``gate`` holds back those whose name holds ``slow``."""

    class Opens(list):
        gate = threading.Event()

    opened = Opens()
    make = Table.__init__

    def counted(self, storage, *given, **more):
        opened.append(storage.root)
        if "slow" in storage.root:
            assert opened.gate.wait(30)
        make(self, storage, *given, **more)

    monkeypatch.setattr(Table, "__init__", counted)
    yield opened
    opened.gate.set()


def hide_last_commit(table):
    """Take the last completed instants of the timeline away; what gives them back."""
    timeline = table / ".hoodie" / "timeline"
    last = sorted(path for path in timeline.glob("*_*.*commit"))[-1]
    hidden = table.parent / last.name
    shutil.move(last, hidden)
    return lambda: shutil.move(hidden, last)


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.1.1_nonpart_mor"])
def test_a_list_that_is_newer_than_the_view_gets_bits_for_files_that_the_view_knows_only(
    sidecar, unpack, tmp_path, name
):
    table = shutil.copytree(unpack(name), tmp_path / name)
    newer = files(table)
    give_back = hide_last_commit(table)
    older = {item.base_file: set(item.files) for item in open_table(table).at().slices}
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=1000)
    with running.client() as client:
        for text in FILTERS.values():
            client.prune(request(table, text, newer))
        give_back()
        for sql, text in FILTERS.items():
            plan = prune(open_table(table), text, "hive4", time_zone="UTC")
            needed = {file for item in plan.kept for file in item.files}
            reply = client.prune(request(table, text, newer))
            skipped = skipped_names(newer, reply)
            assert not skipped & needed, sql
            for item in plan.slices:
                if item.base_file in skipped and "mor" in name:
                    assert older[item.base_file] == set(item.files), sql


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor"])
def test_a_commit_is_seen_when_the_timeline_is_looked_at_again(sidecar, unpack, tmp_path, opens, name):
    table = shutil.copytree(unpack(name), tmp_path / name)
    listed = files(table)
    newest = open_table(table).at().slices.instant
    give_back = hide_last_commit(table)
    opens.clear()
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=0, refresh_wait_seconds=30)
    with running.client() as client:
        before = client.prune(request(table, I_IS_100, listed))
        assert before.instant < newest
        client.prune(request(table, I_IS_100, listed))
        assert len(opens) == 1  # nothing moved: not opened again
        give_back()
        after = client.prune(request(table, I_IS_100, listed))
    assert (after.instant, after.covered, len(opens)) == (newest, len(listed), 2)
    assert before.covered < after.covered


def test_an_index_that_was_made_or_refreshed_is_seen_without_a_commit(sidecar, unpack, tmp_path, opens):
    table = shutil.copytree(unpack("1.1.1_main_cow"), tmp_path / "t")
    listed = files(table)
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=0, refresh_wait_seconds=30)
    with running.client() as client:
        before = sum(client.prune(request(table, text, listed)).skipped for text in FILTERS.values())
        work = IndexWork(str(table))
        for number, column in enumerate(("i", "s", "d")):
            work.create([column], ["value_list(limit=1000)"])
            opens.clear()
            seen = sum(client.prune(request(table, text, listed)).skipped for text in FILTERS.values())
            assert len(opens) == 1
            assert seen > before or number
    assert seen > before


def test_the_old_view_answers_until_the_new_one_has_made_the_plans_that_were_asked_for(
    sidecar, unpack, tmp_path, monkeypatch
):
    table = shutil.copytree(unpack("1.1.1_main_cow"), tmp_path / "t")
    listed = files(table)
    newest = open_table(table).at().slices.instant
    give_back = hide_last_commit(table)
    gate = threading.Event()
    decide = View.decide
    decided = []

    def held_back(self, question):
        if self.instant == newest:
            assert gate.wait(30)
        decided.append(self.instant)
        return decide(self, question)

    monkeypatch.setattr(View, "decide", held_back)
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=0, refresh_wait_seconds=0.05)
    try:
        with running.client() as client:
            before = client.prune(request(table, I_IS_100, listed))
            give_back()
            for _ in range(3):
                reply = client.prune(request(table, I_IS_100, listed))
                assert (reply.instant, reply.skipped) == (before.instant, before.skipped)
            gate.set()
            while client.prune(request(table, I_IS_100, listed)).instant != newest:
                pass
    finally:
        gate.set()
    assert decided == [before.instant, newest]  # nobody who asked waited for the new plan


def test_an_older_instant_is_answered_from_its_own_slices(sidecar, unpack):
    table = unpack("1.1.1_main_cow")
    instants = [write.requested for write in open_table(table).table.timeline.writes]
    older = next(at for at in reversed(instants[:-1]) if set(files(table, at)) - set(files(table)))
    listed = files(table, older)
    with sidecar(roots=[str(table)]).client() as client:
        plan = prune(table, I_IS_100, "hive4", as_of=older, time_zone="UTC")
        reply = client.prune(request(table, I_IS_100, listed, query_type="as_of", instant=older))
        assert skipped_names(listed, reply) == {item.base_file for item in plan.skipped}
        assert (reply.instant, reply.covered) == (older, len(listed))
        latest = client.prune(request(table, I_IS_100, listed))
        assert skipped_names(listed, latest) < skipped_names(listed, reply)


def test_a_merge_on_read_table_gets_bits_for_whole_slices_and_none_for_incremental_queries(sidecar, unpack):
    table = unpack("1.1.1_main_mor")
    listed = files(table)
    found = 0
    with sidecar(roots=[str(table)]).client() as client:
        for sql, text in FILTERS.items():
            plan = prune(table, text, "hive4", time_zone="UTC")
            whole = {file for item in plan.skipped for file in item.files}
            assert skipped_names(listed, client.prune(request(table, text, listed))) == whole, sql
            bases = [item.base_file for item in plan.slices if item.base_file]
            reply = client.prune(request(table, text, bases, query_type="read_optimized"))
            assert skipped_names(bases, reply) == whole & set(bases), sql
            partly = client.prune(request(table, text, bases))
            assert skipped_names(bases, partly) == {item.base_file for item in plan.skipped if not item.log_files}, sql
            none = client.prune(request(table, text, listed, query_type="incremental", instant="2026"))
            assert none.skip == b""
            found += any(item.log_files for item in plan.skipped)
    assert found > 5  # slices with log files were skipped at all


def test_thirty_two_clients_open_a_table_once_and_make_a_plan_once(sidecar, main_cow, opens, monkeypatch):
    decided = []
    decide = View.decide
    monkeypatch.setattr(View, "decide", lambda self, question: (decided.append(1), decide(self, question))[1])
    listed = files(main_cow)
    opens.clear()
    running = sidecar(roots=[str(main_cow)], refresh_seconds=1000)
    barrier = threading.Barrier(32)

    def ask():
        with running.client() as client:
            barrier.wait()
            assert client.prune(request(main_cow, I_IS_100, listed)).skipped > 0

    threads = [threading.Thread(target=ask) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert running.metric("sargo_requests_total", method="prune", end="answered") == 32
    assert (len(opens), len(decided)) == (1, 1)


def test_a_table_that_takes_for_ever_holds_up_nobody_else_and_is_answered_in_time(sidecar, main_cow, tmp_path, opens):
    slow = shutil.copytree(main_cow, tmp_path / "slow")
    fast = shutil.copytree(main_cow, tmp_path / "fast")
    listed = files(fast)
    running = sidecar(roots=[str(tmp_path)], request_seconds=0.5, refresh_seconds=1000, workers=2)
    with running.client() as client:
        client.prune(request(fast, I_IS_100, listed))
    late = []

    def ask_slow():
        with running.client() as client:
            late.append(client.prune(request(slow, I_IS_100, listed)))

    threads = [threading.Thread(target=ask_slow) for _ in range(8)]
    for thread in threads:
        thread.start()
    with running.client() as client:
        for _ in range(20):  # all of them while the slow table is being opened
            assert client.prune(request(fast, I_IS_100, listed)).skipped > 0
        for thread in threads:
            thread.join()
        assert {(reply.skip, reply.reasons[0]) for reply in late} == {(b"", "the answer was not ready in time")}
        opens.gate.set()
        while not client.prune(request(slow, I_IS_100, listed)).skipped:
            pass  # what was begun is there for those who ask later
    assert opens.count(str(slow)) == 1


def test_older_instants_of_a_slow_table_take_one_thread_however_many_are_asked_for(
    sidecar, main_cow, tmp_path, monkeypatch
):
    slow = shutil.copytree(main_cow, tmp_path / "slow")
    fast = shutil.copytree(main_cow, tmp_path / "fast")
    listed = files(fast)
    gate = threading.Event()
    make = View.__init__

    def held_back(self, opened, as_of, *given):
        if as_of is not None:
            assert gate.wait(30)
        make(self, opened, as_of, *given)

    monkeypatch.setattr(View, "__init__", held_back)
    running = sidecar(roots=[str(tmp_path)], request_seconds=5, refresh_seconds=0, workers=2)
    late = []

    def ask_slow(year):
        with running.client() as client:
            late.append(client.prune(request(slow, I_IS_100, listed, query_type="as_of", instant=str(year))))

    threads = [threading.Thread(target=ask_slow, args=(2030 + i,)) for i in range(8)]
    try:
        with running.client() as client:
            assert client.prune(request(slow, I_IS_100, listed)).skipped > 0
            for thread in threads:
                thread.start()
            while len(running.sidecar.service.tables._entries[str(slow)].tasks) < 8:
                pass
            assert client.prune(request(fast, I_IS_100, listed)).skipped > 0
            assert not late
    finally:
        gate.set()
        for thread in threads:
            thread.join()
    assert {reply.skipped for reply in late} == {late[0].skipped}
    assert late[0].skipped > 0


def test_tables_that_were_not_asked_for_are_closed_when_memory_is_short(sidecar, main_cow, tmp_path, opens):
    copies = [shutil.copytree(main_cow, tmp_path / name) for name in "abc"]
    listed = files(copies[0])
    opens.clear()
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=1000)
    with running.client() as client:
        client.prune(request(copies[0], I_IS_100, listed))
        size = running.metric("sargo_cache_bytes")
        assert size > 10_000
    small = sidecar(roots=[str(tmp_path)], refresh_seconds=1000, cache_bytes=int(size * 2.5))
    opens.clear()
    with small.client() as client:
        for copy in (*copies, copies[0]):
            assert client.prune(request(copy, I_IS_100, listed)).skipped > 0
            assert small.metric("sargo_cache_bytes") <= size * 2.5
    assert [path[-1] for path in opens] == ["a", "b", "c", "a"]
    assert small.metric("sargo_tables_open") == 2


def test_a_table_that_cannot_be_opened_is_left_alone_for_a_while(sidecar, main_cow_copy, opens):
    listed = files(main_cow_copy)
    (main_cow_copy / ".hoodie" / "hoodie.properties").rename(main_cow_copy / "away")
    opens.clear()
    for retry, looks in ((1000, 1), (0, 3)):
        running = sidecar(roots=[str(main_cow_copy)], retry_seconds=retry, refresh_seconds=0)
        looked = []
        look = TableReader.look
        TableReader.look = lambda *of: (looked.append(1), look(*of))[1]  # noqa: B023
        try:
            with running.client() as client:
                for _ in range(3):
                    assert client.prune(request(main_cow_copy, I_IS_100, listed)).skip == b""
        finally:
            TableReader.look = look
        assert len(looked) == looks


def test_log_files_that_are_appended_to_need_a_look_after_the_request(sidecar, unpack, tmp_path, monkeypatch):
    table = shutil.copytree(unpack("0.15.0_main_cow"), tmp_path / "t")
    properties = table / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("COPY_ON_WRITE", "MERGE_ON_READ"))
    listed = files(table)
    looked = []
    look = TableReader.look
    monkeypatch.setattr(TableReader, "look", lambda *of: (looked.append(1), look(*of))[1])
    with sidecar(roots=[str(tmp_path)], refresh_seconds=1000).client() as client:
        for query_type, looks in (("snapshot", 1), ("snapshot", 2), ("read_optimized", 2), ("as_of", 3)):
            client.prune(request(table, I_IS_100, listed, query_type=query_type, instant="2027"))
            assert len(looked) == looks, query_type


def test_names_of_tables_that_are_not_there_close_no_open_table(sidecar, main_cow, tmp_path, monkeypatch):
    monkeypatch.setattr(tables_module, "MAX_UNAVAILABLE", 20)
    table = shutil.copytree(main_cow, tmp_path / "table")
    listed = files(table)
    running = sidecar(roots=[str(tmp_path)])
    tables = running.sidecar.service.tables
    with running.client() as client:
        assert client.prune(request(table, I_IS_100, listed)).skipped > 0
        for number in range(60):
            client.prune(request(tmp_path / f"no_table_{number}", I_IS_100, listed))
        assert tables.unavailable <= 21
        assert len(tables) == 1
        assert tables.closed == 0


def test_an_older_instant_that_is_slow_delays_no_plan_of_the_latest(sidecar, main_cow, tmp_path, monkeypatch):
    table = shutil.copytree(main_cow, tmp_path / "table")
    listed = files(table)
    gate, make = threading.Event(), View.__init__

    def held_back(self, opened, as_of, *given):
        if as_of is not None:
            assert gate.wait(30)
        make(self, opened, as_of, *given)

    monkeypatch.setattr(View, "__init__", held_back)
    running = sidecar(roots=[str(tmp_path)], request_seconds=0.5)
    with running.client() as client:
        try:
            late = client.prune(request(table, I_IS_100, listed, query_type="as_of", instant="2031"))
            assert late.reasons[0] == "the answer was not ready in time"
            assert client.prune(request(table, I_IS_100, listed)).skipped > 0
        finally:
            gate.set()


def test_an_instant_of_any_length_is_refused(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client, pytest.raises(RefusedMessage) as refused:
        client.prune(request(main_cow, I_IS_100, [], query_type="as_of", instant="1" * 1_000_000))
    assert refused.value.code == "request"
