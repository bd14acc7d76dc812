"""``sargo doctor`` holds a sidecar's listing against directories of the table."""

import json

import pytest
from click.testing import CliRunner

from handler import open_table
from handler.cli.main import main
from handler.sidecar.plans.plans import Plans


@pytest.fixture
def examine(sidecar):
    """The findings of the check, and the exit code, for a table."""

    def examined(table, **settings):
        running = sidecar(roots=[str(table)], **settings)
        where = ["--sidecar", f"127.0.0.1:{running.port}", "--table", str(table), "--json"]
        done = CliRunner().invoke(main, ["doctor", *where])
        findings = json.loads(done.stdout)["findings"]
        return [one for one in findings if one["check"] == "listing"], done.exit_code

    return examined


@pytest.mark.parametrize("name", ["0.15.0_main_cow", "1.0.2_main_cow", "1.1.1_main_mor", "1.1.1_nonpart_mor"])
def test_the_listing_of_a_table_is_that_of_its_directories(examine, unpack, name):
    [finding], code = examine(unpack(name))
    assert (finding["state"], code) == ("ok", 0)
    assert "they are those on disk" in finding["text"]


def test_a_wrong_length_and_a_missing_file_are_named(examine, main_cow_copy):
    first, second, *_ = open_table(main_cow_copy, cache=None).at().slices
    with (main_cow_copy / first.base_file).open("ab") as file:
        file.write(b"more")
    (main_cow_copy / second.base_file).unlink()
    [finding], code = examine(main_cow_copy)
    assert (finding["state"], code) == ("failed", 1)
    assert "2 files are not what" in finding["text"]
    assert first.base_file in finding["text"]
    assert f"{second.base_file} is listed, and is none of the latest" in finding["text"]
    assert "sargo.listing=hudi" in finding["remedy"]


def test_a_file_that_the_sidecar_does_not_list_is_named(examine, main_cow_copy, monkeypatch):
    hidden = next(iter(open_table(main_cow_copy, cache=None).at().slices)).partition

    async def chosen(self, question, listed):
        return ~listed.of_partitions([hidden]), ()

    monkeypatch.setattr(Plans, "_chosen", chosen)
    [finding], code = examine(main_cow_copy)
    assert (finding["state"], code) == ("failed", 1)
    assert "is not listed" in finding["text"]


def test_a_table_that_the_sidecar_does_not_list_is_a_warning(examine, main_cow_copy):
    properties = main_cow_copy / ".hoodie" / "hoodie.properties"
    lines = properties.read_text().splitlines()
    kept = [one for one in lines if not one.startswith(("hoodie.table.metadata.partitions=", "hoodie.table.checksum"))]
    properties.write_text("\n".join([*kept, ""]))
    [finding], _ = examine(main_cow_copy)
    assert finding["state"] == "warning"
    assert "no metadata table" in finding["text"]
