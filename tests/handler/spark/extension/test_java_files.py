"""The files that the tests of the jar for Spark read are those that Sargo and Apache Thrift write."""

from __future__ import annotations

from tests.handler.spark.extension import key_hashes, wire_messages


def test_the_hashes_of_the_java_tests_are_those_of_the_bucket_index() -> None:
    written = key_hashes.HASHES.read_text(encoding="utf-8")
    assert written == key_hashes.text(), "run python -m tests.handler.spark.extension.key_hashes, then make test-java"
    assert sum(":" in line.split("\t")[0] for line in written.splitlines()) > 20


def test_the_messages_of_the_java_tests_are_those_of_the_idl() -> None:
    for path, text in wire_messages.files().items():
        assert path.read_text(encoding="utf-8") == text, f"run {wire_messages.COMMAND}"
