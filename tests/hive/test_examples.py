"""``examples/hive_session.py`` on a HiveServer2."""

from __future__ import annotations

import pytest

from tests.hive.playground import Hive

pytest.importorskip("pyhive.hive")
pytestmark = pytest.mark.hive


def test_a_session_compares_rows_with_and_without(hive401: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    from examples import hive_session

    with hive401.server.connect() as connection:
        count, seconds = hive_session.compare(connection, "stored_trips", "k < 100")
        assert count == 100
        assert seconds.keys() == {"false", "true"}
        answers = iter([([1, 2], 0.0), ([1], 0.0)])
        monkeypatch.setattr(hive_session, "timed", lambda *_: next(answers))
        with pytest.raises(RuntimeError, match="1 rows with Sargo, 2 without"):
            hive_session.compare(connection, "stored_trips", "k < 100")
