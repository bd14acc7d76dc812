"""Options of a table and of its file system, wherever a program or a command line gives them: a misspelt one raises."""

import pytest

import handler
import index_store
from evaluator.language.errors import UnsupportedError
from handler import TableError
from handler.indexes.operations import IndexWork
from tests.handler.commands import run

MISSPELT = {"hoodie.index.tpye": "BUCKET"}


def test_open_table_refuses_a_misspelt_option(main_cow):
    for call in (
        lambda: handler.open_table(main_cow, MISSPELT),
        lambda: index_store.open_table(main_cow, options=MISSPELT),
        lambda: IndexWork(str(main_cow), table_options=MISSPELT).open(),
    ):
        with pytest.raises(UnsupportedError, match=r"is hoodie\.index\.type meant"):
            call()


@pytest.mark.parametrize(
    "command",
    [
        ("prune", "--where", "i = 1"),
        ("explain", "--where", "i = 1"),
        ("inspect",),
        ("advise",),
        ("index list",),
        ("index refresh",),
    ],
    ids=lambda command: command[0],
)
def test_the_command_line_refuses_a_misspelt_table_option(main_cow, command):
    words = [*command[0].split(), main_cow, *command[1:], "--table-option", "hoodie.index.tpye=BUCKET"]
    assert "is hoodie.index.type meant" in run(*words, code=2)


@pytest.mark.parametrize("name", ["regoin", "regio", "endpiont", "acces_key", "fs.s3a.endpiont"])
def test_a_misspelt_storage_option_is_refused_with_the_closest_one(name):
    with pytest.raises(TableError, match=r"did you mean (region|endpoint|access_key)") as raised:
        handler.open_table("s3://bucket/trips", storage_options={name: "value-of-it"})
    assert "value-of-it" not in str(raised.value)


def test_a_storage_option_of_a_local_path_is_refused(main_cow):
    with pytest.raises(TableError, match="local paths"):
        handler.open_table(main_cow, storage_options={"region": "eu"})


@pytest.mark.parametrize("options", ["region=eu", [("region", "eu")], 5])
def test_storage_options_that_are_no_mapping_are_a_type_error(main_cow, options):
    with pytest.raises(TypeError, match="a dict"):
        handler.open_table(main_cow, storage_options=options)


def test_strict_exits_2_for_an_unknown_column(main_cow):
    for command in ("prune", "explain"):
        for text in ("idd = 'k1'", "idd[0] = 1"):
            message = run(command, main_cow, "--where", text, "--strict", code=2)
            assert "column idd is not in the table; did you mean id" in message
