"""The fuzzers find faults that are planted, make them small, and say how to repeat them."""

from __future__ import annotations

import random

import pytest

import sarg
from evaluator.binding import rules
from evaluator.language import expression as ex
from tests.fuzz.campaign import Campaign, command, input_of, run, try_case
from tests.fuzz.fuzzers import named
from tests.fuzz.kryo import seeds


def found(name: str, seconds: float = 30.0) -> Campaign:
    campaign = run(named(name), 1, seconds, say=lambda _: None, enough=1, shrink_seconds=0.4)
    assert campaign.findings, f"{campaign.line()}: the planted fault was not found"
    return campaign


def test_a_decoder_that_lets_an_error_of_python_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = sarg.decode_detailed

    def broken(data: bytes | str) -> sarg.Decoded:
        try:
            return real(data)
        except sarg.DecodeError as error:
            raise IndexError(error.why) from None

    monkeypatch.setattr(sarg, "decode_detailed", broken)
    [finding] = found("kryo").findings
    assert "IndexError" in finding.why
    assert len(finding.case) < 100, "it was not made smaller"
    again = command(finding, None).partition("=")[2]
    assert input_of(again) == finding.case
    assert isinstance(try_case(named("kryo"), finding.case)[1], IndexError)


def test_a_decoder_whose_answer_changes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = sarg.decode_detailed, [0]

    def forgetful(data: bytes | str) -> sarg.Decoded:
        decoded = real(data)
        calls[0] += 1
        turned = ex.Not(decoded.expression) if calls[0] % 2 else decoded.expression
        return sarg.Decoded(decoded.profile, decoded.exprnode, decoded.search_argument, turned)

    monkeypatch.setattr(sarg, "decode_detailed", forgetful)
    assert "two trees" in found("kryo").findings[0].why


def test_a_decoder_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(data: bytes | str) -> sarg.Decoded:
        while True:
            pass

    monkeypatch.setattr(sarg, "decode_detailed", endless)
    fuzzer = named("kryo")
    fuzzer.cpu_seconds = 0.05
    assert "CPU seconds" in str(try_case(fuzzer, seeds()[0])[1])


def test_a_decoder_that_takes_much_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(data: bytes | str) -> sarg.Decoded:
        bytearray(b"x" * (64 << 20))
        raise sarg.DecodeError(0, "no")

    monkeypatch.setattr(sarg, "decode_detailed", greedy)
    fuzzer = named("kryo")
    fuzzer.memory = 32 << 20
    assert "MiB of memory" in str(try_case(fuzzer, seeds()[0])[1])


def test_a_rule_that_loses_a_row_is_found_by_sql_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules._CAN_BE_TRUE, "<=", lambda a, b: a.lo < b.hi)
    monkeypatch.setattr("tests.fuzz.sql._mutated", lambda _, text: text)
    monkeypatch.setattr("tests.fuzz.sql.SqlGrammar.constant", lambda _: "5")
    [finding] = found("sql").findings
    assert finding.why.startswith(("sound", "search", "layers", "De Morgan", "one table"))
    assert len(finding.case) < 120


@pytest.mark.parametrize("name", ["kryo", "sql"])
def test_a_seed_draws_the_same_cases_again(name: str) -> None:
    fuzzer = named(name)
    drawn = [[fuzzer.dump(fuzzer.draw(random.Random(f"1 {number}"))) for number in range(30)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 25
    assert [fuzzer.dump(fuzzer.load(data)) for data in drawn[0]] == drawn[0]
