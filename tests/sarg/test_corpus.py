"""Every filter that a real Hive wrote decodes to the tree that Java's own classes read from it."""

import base64
import json
import time
from dataclasses import replace

import pytest

import sarg
from evaluator.language.expression import to_dict
from sarg.hive_tree.build import TOP_NODE, build_tree
from sarg.kryo.errors import DecodeError
from sarg.kryo.profiles import EXPRESSION_PROFILES, read_with_profiles
from tests.sampling import share
from tests.sarg.corpus import VERSIONS, digest, records, tree_of

KRYO3 = [(version, "kryo_base64") for version in VERSIONS]


@pytest.mark.parametrize(("version", "key"), [*KRYO3, ("2.3.10", "kryo4_base64")], ids=str)
def test_every_filter_of_the_corpus_decodes_value_by_value(version, key, record_property):
    compared = 0
    for record in records(version):
        tree = tree_of(sarg.decode_exprnode(record[key]), version)
        if "tree" in record:
            assert tree == record["tree"], record["sql"]
            assert json.dumps(tree) == json.dumps(record["tree"]), record["sql"]
        else:
            assert digest(tree) == record["tree_sha256"], record["sql"]
        compared += 1
    assert compared == len(records(version)) > 200
    record_property("filters", compared)
    print(f"Hive {version} {key}: {compared} filters equal")


@pytest.mark.parametrize("version", VERSIONS)
def test_profiles_that_accept_the_same_bytes_agree_on_the_tree(version):
    for record in share(records(version), 9):
        data = base64.b64decode(record["kryo_base64"])
        trees = set()
        for profile in EXPRESSION_PROFILES:
            try:
                _, tree = read_with_profiles(data, (replace(profile, only_if_seen=None),), TOP_NODE, build_tree)
            except DecodeError:
                continue
            trees.add(json.dumps(tree.to_dict()))
        assert len(trees) == 1, record["sql"]


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("3.1.3", "Hive 3.1 (Kryo 3)"),
        ("4.0.1", "Hive 4 (Kryo 5)"),
        ("4.2.0", "Hive 4 (Kryo 5)"),
    ],
)
def test_the_profile_names_the_generation_of_hive(version, words):
    for record in records(version):
        assert sarg.decode_detailed(record["kryo_base64"]).profile.startswith(words)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_filter_of_the_corpus_translates_to_text_and_dict(version):
    for record in records(version):
        expression = sarg.decode(record["kryo_base64"])
        assert str(expression)
        assert to_dict(expression)


def test_a_typical_filter_takes_well_below_a_millisecond():
    filters = [record["kryo_base64"] for record in records("4.0.1") if len(record["kryo_base64"]) < 1000]
    for text in filters:
        sarg.decode(text)
    started = time.process_time()
    for text in filters:
        sarg.decode(text)
    seconds = (time.process_time() - started) / len(filters)
    print(f"{seconds * 1e3:.3f} ms a filter")
    assert seconds < 0.002  # 0.25 ms on an idle machine; the bound allows for a busy one
