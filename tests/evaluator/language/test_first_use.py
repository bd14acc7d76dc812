"""Names imported at their first use: the collector is as it was, whatever happens."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from evaluator.language.first_use import import_member


@pytest.fixture
def collector():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("collects", [True, False])
@pytest.mark.parametrize(
    ("module", "name", "error"),
    [("json", "loads", None), ("json", "nosuch", AttributeError), ("nosuch_module", "loads", ModuleNotFoundError)],
)
def test_the_collector_rests_only_while_modules_are_imported(collector, collects, module, name, error):
    (gc.enable if collects else gc.disable)()
    if error is None:
        assert import_member(module, name).__name__ == name
    else:
        with pytest.raises(error):
            import_member(module, name)
    assert gc.isenabled() is collects


def test_nothing_is_collected_while_public_names_are_imported():
    program = (
        "import gc, handler, sys; gc.collect(); seen = []; gc.callbacks.append(lambda *one: seen.append(one))\n"
        "handler.prune, handler.open_table\n"
        "gc.callbacks.clear(); assert gc.isenabled(); assert 'numpy' in sys.modules; print(len(seen))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 12  # once after each name; some 200 otherwise
