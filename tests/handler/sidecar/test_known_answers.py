"""A question that was answered before takes no work, and is still checked, reported and counted as a new one."""

import json

import pytest

from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused
from handler.sidecar.request_matching import SelectedNames
from handler.sidecar.wire import read_reply
from tests.bench.sidecar import frame
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.test_server import connect, read_frame
from tests.handler.sidecar.test_service import I_IS_100
from tests.index_store.synthetic import write_table


@pytest.fixture
def worked_out(monkeypatch):
    """The answers that were worked out: the number of their names."""
    made, of = [], SelectedNames.of

    def noting(matched, *given):
        made.append(len(matched.indices))
        return of(matched, *given)

    monkeypatch.setattr(SelectedNames, "of", noting)
    return made


def answer_of(reply):
    return reply.skip, reply.skipped, reply.covered, reply.fully_matched, reply.digest, reply.instant, reply.reasons


def test_the_same_answer_is_given_again_without_work_and_has_its_own_report(sidecar, main_cow, names, worked_out):
    running = sidecar(roots=[str(main_cow)], refresh_seconds=600)
    with running.client() as client:
        replies = [client.prune(request(main_cow, I_IS_100, names, query_id=f"q{number}")) for number in range(3)]
        assert worked_out == [len(names)]
        assert len({str(answer_of(reply)) for reply in replies}) == 1
        assert replies[0].skipped > 0
        texts = [client.explain(reply.report_id) for reply in replies]
    for number, text in enumerate(texts):
        assert f"query     q{number} " in text
        assert "i = 100" in text
    lines = [json.loads(line) for line in running.log.getvalue().splitlines()]
    assert [line["query_id"] for line in lines if line["event"] == "answered"] == ["q0", "q1", "q2"]
    assert running.metric("sargo_requests_total", method="prune", end="answered") == 3


def test_another_list_filter_or_query_type_is_another_question(sidecar, main_cow, names, worked_out):
    with sidecar(roots=[str(main_cow)], refresh_seconds=600).client() as client:
        for _ in range(2):
            whole = client.prune(request(main_cow, I_IS_100, names))
            less = client.prune(request(main_cow, I_IS_100, names[1:]))
            client.prune(request(main_cow, I_IS_100, names, query_type="read_optimized"))
        assert sorted(worked_out) == sorted([len(names), len(names) - 1, len(names)])
        assert whole.name_count == less.name_count + 1


def test_a_known_answer_is_that_of_a_sidecar_that_was_never_asked(sidecar, tmp_path):
    write_table(tmp_path / "t", 50)
    listed = [
        f"{number:08x}-0000-4000-8000-{number:012x}-0_{number}-10-100_20260101000000000.parquet" for number in range(60)
    ]
    asked = [frame(tmp_path / "t", listed[:count], bound) for count in (10, 60) for bound in (5, 25)]
    again = sidecar(roots=[str(tmp_path)], refresh_seconds=600)
    with connect(again.port) as connection:
        for sent in asked * 3:
            connection.sendall(sent)
            known = read_reply("prune", read_frame(connection)).success
            with connect(sidecar(roots=[str(tmp_path)]).port) as other:
                other.sendall(sent)
                assert answer_of(read_reply("prune", read_frame(other)).success) == answer_of(known)


def test_secret_and_roots_are_checked_though_the_answer_is_known(guarded, main_cow, names, tmp_path):
    running = guarded(refresh_seconds=600)
    (tmp_path / "link").symlink_to(main_cow)

    def ask(table, secret):
        return Client(f"127.0.0.1:{running.port}", 30, secret=secret).prune(str(table), I_IS_100.encode(), names)

    assert [ask(main_cow, SECRET).skipped > 0 for _ in range(2)] == [True, True]
    for table, secret in ((main_cow, "wrong"), (main_cow, None), (tmp_path, SECRET)):
        with pytest.raises((Refused, ClientError)):
            ask(table, secret)
    assert ask(tmp_path / "link", SECRET).skipped > 0
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises((Refused, ClientError)):
        ask(tmp_path / "link", SECRET)


def test_a_connection_that_showed_the_secret_may_not_ask_without_it(guarded, main_cow, names):
    with guarded(refresh_seconds=600).client() as client:
        assert [client.prune(request(main_cow, I_IS_100, names, secret=SECRET)).skipped > 0 for _ in range(2)] == [
            True
        ] * 2
        with pytest.raises(Exception, match="secret"):
            client.prune(request(main_cow, I_IS_100, names, secret="wrong"))
        with pytest.raises(Exception, match="secret"):
            client.prune(request(main_cow, I_IS_100, names))


def test_after_a_wrong_skip_a_known_answer_is_not_given(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], refresh_seconds=600)
    with running.client() as client:
        assert [client.prune(request(main_cow, I_IS_100, names)).skipped > 0 for _ in range(2)] == [True, True]
        running.sidecar.service.records.turned_off.add(str(main_cow.resolve()))
        reply = client.prune(request(main_cow, I_IS_100, names))
    assert (reply.skip, reply.skipped) == (b"", 0)
    assert "audit" in reply.reasons[0]


def test_what_is_known_of_an_old_view_is_not_said_of_a_new_one(sidecar, tmp_path, worked_out):
    write_table(tmp_path / "t", 50)
    sent = frame(tmp_path / "t", ["a.parquet"], 5)
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=0)
    with connect(running.port) as connection:
        for _ in range(2):
            connection.sendall(sent)
            read_frame(connection)
        [entry] = running.sidecar.service.tables._entries.values()
        assert worked_out == [1]
        before = entry.view
        entry.current._replace(None)  # as when the table is opened again
        connection.sendall(sent)
        read_frame(connection)
    assert worked_out == [1, 1]
    assert entry.view is not before


def test_known_questions_that_are_sent_ahead_are_answered_in_their_order(sidecar, tmp_path):
    write_table(tmp_path / "t", 50)
    asked = [frame(tmp_path / "t", ["a.parquet"] * count, 5) for count in (1, 2, 3)]
    with connect(sidecar(roots=[str(tmp_path)], refresh_seconds=600).port) as connection:
        for _ in range(40):
            connection.sendall(b"".join(asked * 10))
            counts = [read_reply("prune", frame_).success.name_count for frame_ in read_frames(connection, 30)]
            assert counts == [1, 2, 3] * 10


def read_frames(connection, count):
    """The next frames, which may arrive in one piece."""
    data, frames = b"", []
    while len(frames) < count:
        if len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "big"):
            end = 4 + int.from_bytes(data[:4], "big")
            frames.append(data[4:end])
            data = data[end:]
            continue
        piece = connection.recv(65536)
        assert piece
        data += piece
    assert not data
    return frames


def test_a_client_that_does_not_read_its_answers_is_not_read_either(sidecar, tmp_path):
    write_table(tmp_path / "t", 50)
    sent = frame(tmp_path / "t", ["a.parquet"], 5)
    running = sidecar(roots=[str(tmp_path)], refresh_seconds=600, read_seconds=1)
    with connect(running.port) as connection:
        connection.sendall(sent)
        read_frame(connection)
        connection.setblocking(False)
        is_refused = False
        for _ in range(200_000):
            try:
                connection.send(sent)
            except BlockingIOError:  # the sidecar does not take any more
                is_refused = True
                break
            except OSError:
                break
        assert is_refused
        assert running.sidecar.server.bytes_held < 1 << 20
    with running.client() as client:
        assert client.health()
