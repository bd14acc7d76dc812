"""A table's location means one folder, however awkward its name is: on the wire, in the roots, in what people write."""

import os
import shutil
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler import open_table, prune
from handler.sidecar.idl import Refused
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.roots.locations import read_location, wire_location
from handler.sidecar.settings import SettingsError
from tests.handler.sidecar.conftest import request, skipped_names
from tests.handler.sidecar.test_service import I_IS_100

AWKWARD = ["a b", "a%b", "a%20b", "a#b", "a?b", "a+b", "a&b", "a=b", "a'b", 'a"b', "äö€", "a{b}", "a{b,c}", "a*", "a:b"]
#: What Java's URI leaves unescaped in a path, beside letters, digits and other characters than those of ASCII.
JAVA_PLAIN = "/:@!$&'()*+,;=-._~"


def as_java(path: str) -> str:
    """``new Path(path).toUri().toString()`` of a local path."""
    return "file:" + "".join(char if ord(char) > 127 else quote(char, safe=JAVA_PLAIN) for char in path)


def test_javas_form_is_the_one_that_java_was_seen_to_write():
    assert as_java("/w/a b%20c#d?e+f&g=h'i\"ä{j}") == "file:/w/a%20b%2520c%23d%3Fe+f&g=h'i%22ä%7Bj%7D"


@pytest.mark.parametrize("name", AWKWARD)
def test_the_uri_that_java_writes_and_the_path_are_one_folder(tmp_path, name):
    for one in {*AWKWARD, name}:
        (tmp_path / one).mkdir()
    folder = str(tmp_path / name)
    roots = AllowedRoots([str(tmp_path)])
    encoded_all = "file://" + quote(folder)
    for spelling in (folder, as_java(folder), encoded_all, (tmp_path / name).as_uri(), wire_location(folder)):
        assert roots.locate(spelling).path == os.path.realpath(folder), spelling
    assert AllowedRoots([as_java(folder)]).locate(folder).path == os.path.realpath(folder)


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12))
def test_no_two_folders_have_one_form_on_the_wire(name):
    if name in (".", ".."):
        return
    path = f"/w/{name}"
    assert read_location(as_java(path)) == ("file", "", path)
    assert read_location(path) == ("file", "", path)
    assert read_location(wire_location(f"hdfs://nn:8020{path}")) == ("hdfs", "nn:8020", path)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("/w/a b%20c", "/w/a b%20c"),
        ("file:///w/a b", "/w/a b"),
        ("s3a://lake/w/a b%20c?d", "s3a://lake/w/a%20b%2520c%3Fd"),
        ("s3://lake/w/t?region=x", "s3://lake/w/t"),
        ("hdfs://nn:8020/w/a=b", "hdfs://nn:8020/w/a=b"),
    ],
)
def test_what_people_write_is_sent_in_the_form_of_the_wire(written, sent):
    assert wire_location(written) == sent


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("file:/w/a#b", "a fragment"),
        ("file:/w/a?b", "a query"),
        ("file:/w/100%", "begins no escape"),
        ("file:/w/a%2", "begins no escape"),
        ("file:/w/a%zzb", "begins no escape"),
        ("file:/w/a%FFb", "no UTF-8"),
        ("file:/w/a%0Ab", "control characters"),
        ("file:/w/%2e%2e/b", "holds '.' or '..'"),
        ("file:/w/x%2F..%2Fb", "holds '.' or '..'"),
        ("s3a://lake/w/t%3Fregion=x", "options"),
        ("s3a://lake/w/t%3Fsecret_key=x", "options"),
    ],
)
def test_a_uri_that_could_mean_another_table_is_refused(text, why):
    with pytest.raises(Refused, match=why):
        AllowedRoots(["/w", "s3://lake/w"]).locate(text)
    with pytest.raises(SettingsError, match=why):
        AllowedRoots([text])


@pytest.mark.parametrize("name", AWKWARD)
def test_the_key_in_a_store_is_decoded_once(name):
    found = AllowedRoots(["s3://lake/w"]).locate("s3a://lake/w/" + quote(name, safe=JAVA_PLAIN))
    assert found.path == f"s3://lake/w/{name}"


def test_the_sidecar_answers_for_the_table_of_this_name(sidecar, main_cow, tmp_path):
    """Beside the tables stand empty folders for other ways to read their names."""
    plan = prune(open_table(main_cow), I_IS_100, "hive4", time_zone="UTC")
    names, want = [item.base_file for item in plan.slices], {item.base_file for item in plan.skipped}
    for other in ("a", "a%2520b", "a+c"):
        (tmp_path / other).mkdir()
    with sidecar(roots=[str(tmp_path)]).client() as client:
        for name in ("a b", "a%20b", "a#b", "a?b", "100%", "{a}ä"):
            table = tmp_path / name
            shutil.copytree(main_cow, table)
            reply = client.prune(request(as_java(str(table)), I_IS_100, names))
            assert (reply.covered, skipped_names(names, reply)) == (len(names), want), name
        for text in ("a%2520b%20", "a%20c", "a+c", "a%252520b"):
            absent = client.prune(request(f"file:{tmp_path}/{text}", I_IS_100, names))
            assert (absent.skipped, absent.skip) == (0, b""), text
            assert "cannot be opened" in absent.reasons[0]
