"""Which state of a table plan() answers for, and where it leaves the listing to the engine."""

import shutil
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from handler import open_table
from handler.sidecar.idl import RefusedMessage
from handler.sidecar.listed_files import ListedFiles, NotListed
from handler.sidecar.plans.query_views import QueryViews
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.view import View
from index_store.table.metadata_table import MetadataTable
from tests.handler.sidecar.plans.questions import plan_request, read_files, slices_of, state_of
from tests.handler.sidecar.plans.test_plan import I_IS_100


def refusal(client, request):
    """The code and the words of the refusal."""
    with pytest.raises(RefusedMessage) as refused:
        client.plan(request)
    return refused.value.code, refused.value.why


def undo_last_commit(table):
    """Take the latest commit out of the timelines of the table and of its metadata table; returns what puts it back."""
    instant, _ = state_of(table)
    away = table.parent / f"{table.name}-later"
    found = [one for one in table.rglob(f"{instant}*") if ".hoodie" in one.parts]
    assert found
    for file in found:
        place = away / file.relative_to(table)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.rename(place)

    def put_back():
        for file in found:
            (away / file.relative_to(table)).rename(file)
        shutil.rmtree(away)

    return put_back


def test_another_state_than_the_sidecar_s_is_refused(sidecar, main_cow):
    instant, count = state_of(main_cow)
    with sidecar(roots=[str(main_cow)]).client() as client:
        for other in ({"instant": "20990101000000000"}, {"instant": "20000101000000000"}):
            code, why = refusal(client, plan_request(main_cow, instant_count=count, **other))
            assert (code, instant in why) == ("instant", True)
        code, _ = refusal(client, plan_request(main_cow, instant_count=count + 1))
        assert code == "instant"
        assert read_files(client.plan(plan_request(main_cow)))


def test_a_commit_is_seen_by_the_next_question_whatever_refresh_seconds_say(sidecar, main_cow_copy):
    put_back = undo_last_commit(main_cow_copy)
    before = [item.files for item in open_table(main_cow_copy, cache=None).at().slices]
    with sidecar(roots=[str(main_cow_copy)], refresh_seconds=3600).client() as client:
        assert slices_of(client.plan(plan_request(main_cow_copy))) == before
        put_back()
        after = [item.files for item in open_table(main_cow_copy, cache=None).at().slices]
        assert after != before
        assert slices_of(client.plan(plan_request(main_cow_copy))) == after


def test_all_scans_of_a_query_see_the_state_of_the_first(sidecar, main_cow_copy):
    put_back = undo_last_commit(main_cow_copy)
    with sidecar(roots=[str(main_cow_copy)], refresh_seconds=0).client() as client:
        first = client.plan(plan_request(main_cow_copy, query_id="one"))
        put_back()
        again = client.plan(plan_request(main_cow_copy, query_id="one"))
        filtered = client.plan(plan_request(main_cow_copy, query_id="one", filter_=I_IS_100))
        other = client.plan(plan_request(main_cow_copy, query_id="two"))
        unnamed = client.plan(plan_request(main_cow_copy))
    assert (again.instant, read_files(again)) == (first.instant, read_files(first))
    assert filtered.instant == first.instant
    assert set(slices_of(filtered)) < set(slices_of(first))
    assert other.instant == unnamed.instant == state_of(main_cow_copy)[0] > first.instant


def test_a_query_that_sees_less_than_its_first_scan_is_refused(sidecar, main_cow_copy):
    with sidecar(roots=[str(main_cow_copy)], refresh_seconds=0).client() as client:
        client.plan(plan_request(main_cow_copy, query_id="one"))
        undo_last_commit(main_cow_copy)
        now = state_of(main_cow_copy)
        assert client.plan(plan_request(main_cow_copy, query_id="one")).instant == now[0]


def test_what_queries_hold_is_bounded():
    views = [SimpleNamespace(nbytes=10) for _ in range(4)]
    kept = QueryViews(20, lambda _, view: view is views[2], max_queries=4)
    for number, view in enumerate(views[:3]):
        kept.keep(f"q{number}", "t", view)
    assert [kept.get(f"q{number}", "t") for number in range(3)] == views[:3]
    kept.keep("q3", "t", views[3])
    assert [kept.get(f"q{number}", "t") for number in range(4)] == [None, *views[1:]]
    assert kept.nbytes == 20
    for number in range(4, 9):
        kept.keep(f"q{number}", "t", views[2])
    assert len(kept) == 4
    kept.keep("", "t", views[3])
    assert kept.get("", "t") is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("hoodie.table.metadata.partitions", ""), "no metadata table"),
        (("hoodie.bootstrap.base.path", "/elsewhere"), "bootstrapped"),
    ],
)
def test_a_table_whose_listing_is_not_the_metadata_table_s_alone_is_refused(sidecar, main_cow_copy, change, why):
    properties = main_cow_copy / ".hoodie" / "hoodie.properties"
    key, value = change
    lines = [
        line
        for line in properties.read_text().splitlines()
        if not line.startswith((f"{key}=", "hoodie.table.checksum"))
    ]
    properties.write_text("\n".join([*lines, f"{key}={value}", ""]))
    with sidecar(roots=[str(main_cow_copy)]).client() as client:
        code, said = refusal(client, plan_request(main_cow_copy))
    assert code == "listing"
    assert why in said


def test_a_lagging_or_damaged_metadata_table_is_refused(sidecar, main_cow_copy):
    newest = max((main_cow_copy / ".hoodie" / "metadata" / "files").glob("*"))
    newest.write_bytes(b"")
    with sidecar(roots=[str(main_cow_copy)]).client() as client:
        code, why = refusal(client, plan_request(main_cow_copy))
    assert code == "listing"
    assert "in doubt" in why or "metadata table" in why


@pytest.mark.parametrize("size", [1000, 0, -1, None])
def test_a_file_of_no_length_leaves_the_listing(main_cow, monkeypatch, size):
    """The engine would read nothing of it."""
    table = open_table(main_cow, cache=None).table
    files = ViewFiles.of(table.slices())
    known = table.metadata.files()
    some = next(iter(known.values()))
    path = min(some)
    some.pop(path) if size is None else some.update({path: size})
    monkeypatch.setattr(MetadataTable, "files", lambda _: known)
    with nullcontext() if size == 1000 else pytest.raises(NotListed, match="no length"):
        assert 1000 in ListedFiles.of(files, table).lengths


def test_a_partition_that_the_metadata_table_does_not_know_is_refused(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client:
        for asked in (["p=p9"], ["p=p0", "p=P0"], ["p=p0/"], ["/p=p0"], ["p%3Dp0"], [""]):
            code, why = refusal(client, plan_request(main_cow, asked))
            assert code == "listing"
            assert "partition" in why


def test_a_table_that_is_not_there_is_refused(sidecar, tmp_path):
    with sidecar(roots=[str(tmp_path)]).client() as client:
        code, _ = refusal(client, plan_request(tmp_path / "none", instant="20260101000000000"))
    assert code == "listing"


def test_after_a_wrong_skip_the_table_is_listed_by_hudi(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    running.sidecar.service.records.turned_off.add(str(main_cow))
    with running.client() as client:
        assert refusal(client, plan_request(main_cow))[0] == "listing"


def test_a_filter_that_takes_too_long_leaves_the_listing(sidecar, main_cow, monkeypatch):
    gate, decide = threading.Event(), View.decide
    monkeypatch.setattr(View, "decide", lambda self, query: (gate.wait(30), decide(self, query))[1])
    try:
        with sidecar(roots=[str(main_cow)], request_seconds=1.0).client() as client:
            client.plan(plan_request(main_cow))
            reply = client.plan(plan_request(main_cow, filter_=I_IS_100))
    finally:
        gate.set()
    assert slices_of(reply) == [item.files for item in open_table(main_cow).at().slices]
    assert (reply.skipped, reply.reasons[0]) == (0, "the answer was not ready in time")


def test_a_listing_that_takes_too_long_is_refused(sidecar, main_cow, monkeypatch):
    monkeypatch.setattr(ListedFiles, "of", lambda *_: time.sleep(2))
    with sidecar(roots=[str(main_cow)], request_seconds=0.3).client() as client:
        code, why = refusal(client, plan_request(main_cow))
    assert (code, "no answer within 0.3 s" in why) == ("listing", True)


def test_a_fault_of_the_sidecar_is_refused_and_logged(sidecar, main_cow, monkeypatch):
    monkeypatch.setattr(ListedFiles, "of", lambda *_: 1 / 0)
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        assert refusal(client, plan_request(main_cow)) == ("listing", "the sidecar failed: ZeroDivisionError")
    assert '"where": "plan", "error": "ZeroDivisionError"' in running.log.getvalue()
