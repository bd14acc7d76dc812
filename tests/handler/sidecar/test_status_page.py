"""The sidecar's page over HTTP: who may see it, its headers, what it holds and what it does not, and its limits."""

import base64
import json
import re
import time
import urllib.error
import urllib.request

import pytest

from handler import prune
from handler.sidecar.decisions.planning import _unindexed
from handler.sidecar.recording.history import MAX_COLUMNS, MAX_PERIODS, MAX_TABLES, PERIOD_SECONDS, History
from handler.sidecar.recording.journal import MAX_ERRORS
from handler.sidecar.status import document, web
from handler.sidecar.status.web import StatusPage
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.test_service import I_IS_100

EVIL = "<script>alert(1)</script>\u202e</style>"


def get(running, path="/", password=None, **headers):
    """(status, headers, text) of a page."""
    if password is not None:
        headers["Authorization"] = "Basic " + base64.b64encode(f"anyone:{password}".encode()).decode()
    asked = urllib.request.Request(f"http://127.0.0.1:{running.sidecar.metrics_port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


def state(running, **given):
    return json.loads(get(running, "/status.json", **given)[2])


def ask(running, table, names, **given):
    with running.client() as client:
        return client.prune(request(table, given.pop("filter", I_IS_100), names, **given))


def test_the_page_tells_of_tables_and_questions_and_links_to_their_explanation(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    reply = ask(running, main_cow, names, user="ada", query_id="hive_7")
    status, headers, text = get(running)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert '<html lang="en">' in text
    told = state(running)
    (table,), (question,) = told["tables"], told["questions"]
    assert (table["table"], table["state"], table["slices"]) == (str(main_cow), "current", 14)
    assert (table["listed"], table["skipped"], table["instant"]) == (len(names), reply.skipped, reply.instant)
    assert table["bytes"] > 0
    assert (question["user"], question["query"], question["id"]) == ("ada", "hive_7", reply.report_id)
    assert (question["listed"], question["skipped"]) == (len(names), reply.skipped)
    assert told["sums"]["skipped"] == reply.skipped
    assert [period[1:] for period in told["history"]] == [[1, len(names), reply.skipped]]
    status, headers, text = get(running, f"/explain?id={reply.report_id}")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert f"{reply.skipped} of 14 file slices" in text
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("wanted", [False, True])
def test_filters_and_reasons_are_among_the_questions_with_log_values_only(sidecar, main_cow, names, wanted):
    running = sidecar(roots=[str(main_cow)], log_values=wanted)
    ask(running, main_cow, names)
    told = get(running, "/status.json")[2]
    assert ("i = 100" in told) is wanted
    assert ("filter" in state(running)["questions"][0]) is wanted


def test_with_a_secret_the_page_is_shown_to_those_who_send_it(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], secret=SECRET)
    reply = ask(running, main_cow, names, secret=SECRET)
    for path in ("/", "/status.json", f"/explain?id={reply.report_id}"):
        for given in (None, "", "wrong", SECRET + " ", SECRET[:-1], "\udc80"):
            status, headers, text = get(running, path, password=given if given != "\udc80" else "ÿ")
            assert status == 401
            assert headers["WWW-Authenticate"].startswith("Basic ")
            assert main_cow.name not in text
        assert get(running, path, password=SECRET)[0] == 200
        assert get(running, path, Authorization=f"Bearer {SECRET}")[0] == 200
        for wrong in ("Basic", "Basic !!", "Basic " + "A" * 3000, "Digest x", "Bearer"):
            assert get(running, path, Authorization=wrong)[0] == 401
    assert SECRET not in running.log.getvalue()
    assert SECRET not in get(running, password=SECRET)[2]
    assert running.metric("sargo_refused_total", code="secret") > 0
    assert get(running, "/healthz")[0] == 200  # open, as before


def test_without_a_secret_another_site_cannot_make_a_browser_read_the_page(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    for host in ("evil.example", "evil.example:10951", "localhost.evil.example", "127.0.0.1.evil.example", ""):
        assert get(running, Host=host)[0] == 403
    for host in ("localhost", "localhost:10951", "127.0.0.1:1", "[::1]:10951"):
        assert get(running, Host=host)[0] == 200


@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.2", "::ffff:10.0.0.7", "2001:db8::1", "", "x"])
def test_without_a_secret_the_page_is_for_this_machine_only(sidecar, main_cow, address):
    running = sidecar(roots=[str(main_cow)])
    page = StatusPage(running.sidecar.service, running.sidecar.metrics, None, running._loop)
    seen = []
    page({"REMOTE_ADDR": address, "HTTP_HOST": "10.0.0.7", "PATH_INFO": "/"}, lambda status, _: seen.append(status))
    assert seen == ["403 Forbidden"]


def test_it_can_be_turned_off(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], page=False)
    assert [get(running, path)[0] for path in ("/", "/status.json", "/explain?id=0")] == [404] * 3
    assert get(running, "/metrics")[0] == 200


def test_the_headers_allow_the_pages_own_script_and_nothing_else(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    for path in ("/", "/status.json", "/explain?id=0"):
        _, headers, text = get(running, path)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert policy.endswith("frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
        assert (headers["X-Frame-Options"], headers["Referrer-Policy"]) == ("DENY", "no-referrer")
        assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)


def test_what_a_client_names_cannot_end_an_element(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], log_values=True)
    ask(running, main_cow, names, user=EVIL, query_id=EVIL)
    text = get(running)[2]
    assert "<script>alert" not in text
    assert "alert(1)" in text
    assert "\u202e" not in text
    assert text.count("</style>") == 1
    assert state(running)["questions"][0]["user"] == EVIL


@pytest.mark.parametrize(
    "wrong", ["", "id=", "id=x", "id=" + "0" * 32, "id=../../etc/passwd", "id=<script>", "a" * 9000]
)
def test_a_report_that_is_none_is_not_found(sidecar, main_cow, wrong):
    status, _, text = get(sidecar(roots=[str(main_cow)]), f"/explain?{wrong}")
    assert (status, "script" in text) == (404, False)


def test_only_reading_is_allowed(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        asked = urllib.request.Request(f"http://127.0.0.1:{running.sidecar.metrics_port}/", method=method, data=b"x")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=20)
        with refused.value:
            assert refused.value.code == 405


def test_many_pages_make_one_document_a_second(sidecar, main_cow, monkeypatch):
    made = []
    make = document.status_document
    monkeypatch.setattr(web, "status_document", lambda *given: made.append(time.monotonic()) or make(*given))
    monkeypatch.setattr(web, "_FRESH_SECONDS", 3600.0)
    running = sidecar(roots=[str(main_cow)])
    for _ in range(20):
        assert get(running, "/status.json")[0] == 200
    assert len(made) == 1


def test_a_table_that_cannot_be_read_is_shown_with_its_cause(sidecar, tmp_path, names):
    running = sidecar(roots=[str(tmp_path)])
    (tmp_path / "t").mkdir()
    ask(running, tmp_path / "t", names)
    told = state(running)
    assert told["sums"]["breakers"] == 1
    (table,) = told["tables"]
    assert table["state"] == "cannot be read"
    assert "not a Hudi table" in table["why"]
    assert told["because"] == {"the table cannot be opened": 1}


def test_a_column_without_an_index_is_told_with_the_command(main_cow, no_footers):
    assert _unindexed(prune(main_cow, "st.x = 7 AND i = 3", engine="spark")) == ("st.x",)
    assert _unindexed(prune(main_cow, "u = 7", engine="spark")) == ()  # some files have statistics of it
    assert _unindexed(prune(main_cow, "i = 3 AND p = 'p1'", engine="spark")) == ()


def test_columns_that_were_asked_for_come_with_the_advisors_command(sidecar, main_cow, tmp_path):
    running = sidecar(roots=[str(main_cow)], filter_log=tmp_path / "my filters")
    running.sidecar.service.records.history.add(str(main_cow), 14, 0, 0, ["u"])
    (column,) = state(running)["columns"]
    assert (column["column"], column["asked"]) == ("u", 1)
    assert column["command"] == f"sargo advise {main_cow} --workload '{tmp_path}/my filters'"


def test_errors_are_shown_and_their_number_has_a_limit(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    for i in range(3 * MAX_ERRORS):
        running.sidecar.service.journal.say("accept_failed", "error", why="x" * 10_000, number=i)
    errors = state(running)["errors"]
    assert len(errors) == MAX_ERRORS
    assert all(len(one["text"]) <= 500 for one in errors)


def test_what_is_remembered_of_answers_has_limits():
    now = [0.0]
    history = History(lambda: now[0])
    for i in range(3 * MAX_TABLES):
        now[0] += PERIOD_SECONDS
        history.add(f"/t{i}", 10, 5, 5, [f"c{k}" for k in range(2 * MAX_COLUMNS)])
    assert len(history.periods) == MAX_PERIODS
    assert (len(history.tables), next(iter(history.tables))) == (MAX_TABLES, f"/t{2 * MAX_TABLES}")
    assert all(len(sums.unindexed) == MAX_COLUMNS for sums in history.tables.values())


def test_the_questions_that_are_shown_have_a_limit(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        for _ in range(document.MAX_QUESTIONS + 20):
            client.prune(request(main_cow, I_IS_100, names))
    assert len(state(running)["questions"]) == document.MAX_QUESTIONS


def test_a_report_id_is_a_word_on_a_command_line_and_stands_whole_in_the_log(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    reply = ask(running, main_cow, names)
    assert re.fullmatch("[0-9a-f]{32}", reply.report_id)
    lines = [json.loads(line) for line in running.log.getvalue().splitlines()]
    assert [line["report"] for line in lines if line["event"] == "answered"] == [reply.report_id]
