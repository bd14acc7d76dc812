"""What starting ``sargo`` loads: help needs no library but click, and commands of an extra say what to install."""

from __future__ import annotations

import base64
import json
import subprocess
import sys

import click
import pytest
from pydantic import SecretStr

from handler.cli.setting_flags import setting_flags
from handler.sidecar.settings import Settings
from tests.handler.cli.all_commands import commands
from tests.index_store.synthetic import write_table
from tests.sarg import kryo_writer

HEAVY = {
    *("numpy", "pyarrow", "fastavro", "sqlglot", "rich", "isal", "xxhash", "platformdirs", "pandas", "pyspark", "py4j"),
    *("pydantic", "pydantic_settings", "thrift", "prometheus_client", "hudi", "fsspec", "google_crc32c", "cramjam"),
    *("asyncio", "multiprocessing", "email", "http", "ssl"),
}
#: The help of every command took 190 modules when this was written; one library adds hundreds.
MOST_MODULES = 260

EVERY_HELP = """
import contextlib, io, json, sys
from handler.cli.main import main
printed = io.StringIO()
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*words, "--help"])
print(json.dumps([printed.getvalue().count("Usage: sargo"), sorted(sys.modules)]))
"""

#: What no filter in SQL on a small local table needs.
NOT_FOR_A_SMALL_TABLE = {
    *(
        "sqlglot",
        "handler.sql.trees",
        "email",
        "pyarrow.compute",
        "pyarrow.dataset",
        "pandas",
        "obstore",
        "pydantic",
        "asyncio",
        "multiprocessing",
    ),
    *("sarg.decoding", "sarg.kryo", "sarg.translation", "handler.engines", "handler.rows", "handler.sidecar"),
    *("index_store.own.store", "index_store.own.provider", "index_store.own.secondary", "index_store.buckets"),
    *("index_store.kinds.expressions", "index_store.kinds.record_keys.record_index"),
    *("evaluator.evaluation.formula_search", "handler.cli.serve_command", "handler.cli.index_command"),
}
ONE_FILTER = """
import contextlib, io, json, sys
from handler.cli.main import main
words = json.loads(sys.argv[1])
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(words)
print(json.dumps(sorted(sys.modules)))
"""

FROM_A_SNAPSHOT = """
import json, sys
from handler import open_table, prune
from index_store.snapshots import SnapshotCache
table, folder = map(json.loads, sys.argv[1:])
plan = prune(open_table(table, cache=SnapshotCache(folder, min_slices=1)), "amount > 3.0 AND fee < 100.0")
print(json.dumps([len(plan.kept), list(plan.reasons), sorted(sys.modules)]))
"""

A_SIDECAR = """
import base64, json, sys
from handler.sidecar import run
run.asyncio.run, run._exit_despite_hanging_threads = lambda served: served.close(), lambda: None
run.serve(None)
before = set(sys.modules)
from handler import prune
table, filter_ = map(json.loads, sys.argv[1:])
plan = prune(table, base64.b64decode(filter_), engine="hive4")
late = set(sys.modules) - before
print(json.dumps([len(plan.kept), len(plan.slices), sorted(late)]))
"""

WITHOUT_THE_EXTRA = """
import json, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic", "pydantic_settings", "thrift", "prometheus_client", "pyhive"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from click.testing import CliRunner
from handler.cli.main import main
ended = [CliRunner().invoke(main, words) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in ended]))
"""


def python(code, *arguments):
    """What a Python of its own prints, as JSON."""
    words = [json.dumps(one) for one in arguments]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def test_the_help_of_every_command_loads_no_library():
    calls = [[], ["index"], *(list(words) for words, _ in commands())]
    shown, modules = python(EVERY_HELP, calls)
    assert shown == len(calls)
    assert not HEAVY & set(modules)
    assert len(modules) < MOST_MODULES


def test_the_package_loads_no_library_until_a_name_is_used():
    code = (
        "import json, sys, handler, index_store, handler.cli.process\n"
        "before = sorted(sys.modules)\n"
        "from handler import prune\n"
        "print(json.dumps([before, prune.__module__, 'numpy' in sys.modules]))"
    )
    before, module, loaded = python(code)
    assert not HEAVY & set(before)
    assert "click" not in before
    assert (module, loaded) == ("handler.planning.prune", True)


def test_a_filter_on_a_small_table_loads_only_what_it_needs(tmp_path):
    write_table(tmp_path / "table", 20)
    modules = python(ONE_FILTER, ["prune", str(tmp_path / "table"), "--where", "name = 'b'"])
    assert "handler.planning.prune" in modules
    assert not NOT_FOR_A_SMALL_TABLE & set(modules)


def test_the_first_filter_on_many_files_converts_arrays_without_pandas(tmp_path):
    write_table(tmp_path / "table", 600)
    modules = python(ONE_FILTER, ["prune", str(tmp_path / "table"), "--where", "name = 'b' and amount > 5 and fee < 2"])
    assert "pyarrow.compute" in modules  # which a small table does not need
    assert "pandas" not in modules


def test_the_first_filter_on_keys_in_log_files_converts_arrays_without_pandas(unpack):
    modules = python(ONE_FILTER, ["prune", str(unpack("1.1.1_sec_mor")), "--where", "id in ('k001', 'k002')"])
    assert "index_store.kinds.record_keys.logged_keys" in modules
    assert "pandas" not in modules


def test_the_first_filter_from_a_snapshot_converts_arrays_without_pandas(tmp_path):
    write_table(tmp_path / "table", 300)
    places = str(tmp_path / "table"), str(tmp_path / "cache")
    kept, reasons, _ = python(FROM_A_SNAPSHOT, *places)
    assert (kept > 0, reasons, any((tmp_path / "cache").rglob("*.arrays"))) == (True, [], True)
    again, reasons, modules = python(FROM_A_SNAPSHOT, *places)
    assert (again, reasons) == (kept, [])
    assert not {"pandas", "numpy.ma", "pyarrow.compute"} & set(modules)


def test_a_sidecar_has_loaded_what_its_first_question_needs(tmp_path):
    write_table(tmp_path / "table", 600)
    amount = kryo_writer.type_info("double")
    constant = kryo_writer.constant(kryo_writer.Wrapper("java.lang.Double", 10.0), amount)
    less = kryo_writer.function("OPLessThan", kryo_writer.column("amount", amount), constant)
    kept, slices, late = python(A_SIDECAR, str(tmp_path / "table"), base64.b64encode(kryo_writer.write(less)).decode())
    assert 0 < kept < slices
    assert not {"fastavro", "pyarrow.compute", "sarg.decoding", "pandas"} & set(late)


@pytest.mark.parametrize("package", ["handler", "index_store", "sarg"])
def test_every_public_name_is_found_and_another_is_not(package):
    module = __import__(package)
    for name in module.__all__:
        assert getattr(module, name).__name__.endswith(name) or name == "Table"
        assert name in dir(module)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = module.nosuch


def test_without_the_extra_help_is_shown_and_a_call_says_what_to_install():
    helps = [["serve", "--help"], ["doctor", "--help"], ["report", "--help"], ["--help"]]
    calls = [["serve", "--roots", "/tmp"], ["serve", "--print-config"], ["report", "x"], ["doctor", "--jar", "x"]]
    ended = python(WITHOUT_THE_EXTRA, helps + calls)
    for code, stdout, stderr in ended[:4]:
        assert (code, stderr) == (0, "")
        assert "Usage: " in stdout
    assert "--metrics-port" in ended[0][1]
    for words, (code, stdout, stderr) in zip(calls, ended[4:], strict=True):
        assert (code, stdout) == (2, "")
        assert f"sargo: 'sargo {words[0]}' needs the extra 'sidecar'" in stderr
        assert "pip install 'sargo[sidecar]'" in stderr
        assert stderr.count("\n") == 1


def test_serve_has_a_flag_for_every_setting_but_secrets_and_tables():
    flags = {one.name: one for one in setting_flags() if isinstance(one, click.Option)}
    expected = {
        name: field
        for name, field in Settings.model_fields.items()
        if name not in ("storage_options", "table_options") and field.annotation != (SecretStr | None)
    }
    assert flags.keys() == expected.keys()
    assert "secret" not in flags
    for name, field in expected.items():
        assert flags[name].help == f"{field.description}."
        assert bool(flags[name].secondary_opts) == (field.annotation is bool)
