"""What an administrator copies for the sidecar: every file is used as it stands, so that none can rot."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from handler.sidecar.settings import PREFIX, Settings, load_settings

ROOT = Path(__file__).parents[3]
HIVE_CONF = ROOT / "hive_conf"
SARGO = [sys.executable, "-c", "from handler.cli.main import main; main()"]


def test_the_settings_file_is_read_and_its_comments_hold_settings():
    settings = load_settings(HIVE_CONF / "sidecar.toml", {})
    assert settings.roots == ("/warehouse",)
    assert settings.audit_rate > 0
    text = (HIVE_CONF / "sidecar.toml").read_text("utf-8")
    named = set(re.findall(r"^(?:# )?\[?(\w+)(?: = |\.)", text, re.MULTILINE))
    assert named <= set(Settings.model_fields)


def test_what_is_commented_out_can_be_put_in(tmp_path):
    text = (HIVE_CONF / "sidecar.toml").read_text("utf-8")
    text = re.sub(r'^host = "127.*\n', "", text, flags=re.MULTILINE)
    path = tmp_path / "sidecar.toml"
    path.write_text(re.sub(r'^# (?=\w+ = |\[|")', "", text, flags=re.MULTILINE))
    settings = load_settings(path, {})
    assert (settings.host, settings.shadow) == ("0.0.0.0", True)
    assert settings.table_options["/warehouse/bucketed"]["hoodie.index.type"] == "BUCKET"


def unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(HIVE_CONF / "sargo-sidecar.service")
    return parser


def test_the_commands_of_the_service_run(tmp_path):
    shutil.copy(HIVE_CONF / "sidecar.toml", tmp_path / "sidecar.toml")
    for key in ("ExecStart", "ExecStartPre"):
        words = shlex.split(unit()["Service"][key].replace("/etc/sargo", str(tmp_path)))
        assert words[0] == "/opt/sargo/bin/sargo"
        command = [*SARGO, *[word for word in words[1:] if word != "--print-config"], "--print-config"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
        assert done.returncode == 0, done.stderr
        assert 'roots = ["/warehouse"]' in done.stdout


def test_the_service_waits_for_the_drain():
    drain = load_settings(HIVE_CONF / "sidecar.toml", {}).drain_seconds
    assert int(unit()["Service"]["TimeoutStopSec"]) > drain


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_finds_nothing_wrong_with_the_service(tmp_path):
    text = (HIVE_CONF / "sargo-sidecar.service").read_text("utf-8").replace("/opt/sargo/bin/sargo", "/bin/true")
    (tmp_path / "sargo-sidecar.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "sargo-sidecar.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "sargo-sidecar.service" not in done.stderr


def test_the_container_starts_with_its_own_environment_and_a_secret_only(main_cow):
    text = (HIVE_CONF / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    environment = dict(
        word.split("=", 1) for line in text.splitlines() if line.startswith("ENV ") for word in shlex.split(line)[1:]
    )
    entry = json.loads(re.search(r"^ENTRYPOINT (\[.*\])$", text, re.MULTILINE)[1])
    assert entry == ["/opt/sargo/bin/sargo", "serve"]
    own = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)} | environment
    own |= {f"{PREFIX}ROOTS": str(main_cow), f"{PREFIX}PORT": "0", f"{PREFIX}METRICS_PORT": "0"}
    refused = subprocess.run([*SARGO, *entry[1:]], env=own, capture_output=True, text=True, cwd=ROOT, check=False)
    assert refused.returncode == 2
    assert "secret" in refused.stderr
    with subprocess.Popen(
        [*SARGO, *entry[1:]], env={**own, f"{PREFIX}SECRET": "s3cret"}, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            assert json.loads(process.stderr.readline())["host"] == "0.0.0.0"
        finally:
            process.terminate()
            process.stderr.read()  # its last lines find a reader
    assert process.returncode == 0


def test_the_sidecar_needs_no_other_file_than_those_that_the_container_copies(tmp_path):
    text = (HIVE_CONF / "Containerfile").read_text("utf-8")
    for source in " ".join(re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)).split():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("java", "__pycache__"))
    program = (
        "import sys, handler.cli.serve_command, handler.sidecar.run;"
        "print(*filter(None, [getattr(module, '__file__', None) for module in sys.modules.values()]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    loaded = [Path(file) for file in done.stdout.split()]
    ours = [file for file in loaded if file.is_relative_to(tmp_path)]
    assert len(ours) > 50
    assert [
        file
        for file in loaded
        if file.is_relative_to(ROOT) and "site-packages" not in file.parts and not file.is_relative_to(tmp_path)
    ] == []


def test_the_container_copies_what_there_is_and_builds_what_is_offered():
    text = (HIVE_CONF / "Containerfile").read_text("utf-8")
    for sources in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / source).exists() for source in sources.split())
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in re.search(r'"\.\[([\w,]+)\]"', text)[1].split(","):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE)
    ports = {str(Settings.model_fields[name].default) for name in ("port", "metrics_port")}
    assert set(re.search(r"^EXPOSE (.*)$", text, re.MULTILINE)[1].split()) == ports
