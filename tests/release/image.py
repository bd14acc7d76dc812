"""``make image``: the container of ``hive_conf/Containerfile`` without a registry of images, and a sidecar in it.

The base is a root of Debian's packages, made by mmdebstrap. Wheels are fetched beforehand, so that the build itself
needs no network. buildah builds and runs the container (``apt-get install mmdebstrap buildah``), as root.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from handler.demo.run import unpack_table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
WORK = ROOT / "build" / "image"
TAG = "localhost/sargo-sidecar"
BASE = "localhost/sargo-debian"
SUITE, PYTHON = "bookworm", "3.11"  # Debian 12 has Python 3.11
_PACKAGES = "python3,python3-venv,ca-certificates"
_SECONDS, _METRICS_PORT = 60, 20951


def main() -> int:
    """Build the image and try it; the exit code."""
    missing = [tool for tool in ("mmdebstrap", "buildah") if shutil.which(tool) is None]
    if missing:
        print(f"make image needs {' and '.join(missing)}: apt-get install mmdebstrap buildah", file=sys.stderr)
        return 1
    WORK.mkdir(parents=True, exist_ok=True)
    print(f"A root of Debian's packages ({SUITE}: {_PACKAGES})", flush=True)
    root = WORK / f"{SUITE}.tar"
    if not root.exists():
        _run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={_PACKAGES}", SUITE, f"{root}.new")
        os.replace(f"{root}.new", root)
    print("The wheels that the container holds", flush=True)
    _fetch_wheels(WORK / "wheels")
    print("The image", flush=True)
    base = _buildah("from", "scratch")
    _buildah("add", base, root, "/")
    _buildah("commit", "--rm", base, BASE)
    _buildah(
        *("build", "--isolation=chroot", "--format=docker", f"--build-arg=BASE={BASE}"),
        *("--build-arg=PIP_INSTALL=--no-index --find-links=/wheels", f"--volume={WORK / 'wheels'}:/wheels:ro"),
        *("--file=hive_conf/Containerfile", f"--tag={TAG}", "."),
    )
    print("A sidecar in it", flush=True)
    print(_try(), flush=True)
    archive = WORK / "sargo-sidecar.tar"
    archive.unlink(missing_ok=True)
    _buildah("push", TAG, f"docker-archive:{archive}:{TAG}:latest")
    shutil.rmtree(WORK / "storage")
    print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB; podman load --input {archive.relative_to(ROOT)}")
    return 0


def _fetch_wheels(folder: Path) -> None:
    """The locked versions for the container's Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    text = (ROOT / "hive_conf" / "Containerfile").read_text("utf-8")
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in re.findall(r'"\.\[([\w,]+)\]"', text)[0].split(","):
        asked += project["project"]["optional-dependencies"][extra]
    newest = int(os.confstr("CS_GNU_LIBC_VERSION").rpartition(".")[2])
    platforms = [f"--platform=manylinux_2_{minor}_{os.uname().machine}" for minor in range(17, min(newest, 36) + 1)]
    platforms.append(f"--platform=manylinux2014_{os.uname().machine}")
    _run(
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"),
        *(f"--python-version={PYTHON}", "--implementation=cp", *platforms, f"--dest={folder}"),
        *(f"--constraint={ROOT / 'requirements.lock'}", *asked),
    )


def _try() -> str:
    """Start the sidecar on the demo's table; what /healthz says. The container shares this machine's network."""
    warehouse = WORK / "warehouse"
    shutil.rmtree(warehouse, ignore_errors=True)
    unpack_table(warehouse)
    inspected = json.loads(_buildah("inspect", "--type=image", TAG))["Docker"]["config"]
    container = _buildah("from", TAG)
    run = ["run", "--isolation=chroot", f"--volume={warehouse}:/warehouse:ro"]
    asked = ["/opt/sargo/bin/sargo", "prune", "/warehouse/main_cow", "--where", "i BETWEEN 400 AND 700", "--json"]
    plan = json.loads(_buildah(*run, container, "--", *asked))
    settings = {"SECRET": "only for this trial", "PORT": 0, "METRICS_PORT": _METRICS_PORT}
    settings |= {"HOST": "127.0.0.1", "METRICS_HOST": "127.0.0.1"}
    words = [f"--env=SARGO_SIDECAR_{name}={value}" for name, value in settings.items()]
    serve = _command(*run, *words, container, "--", *inspected["Entrypoint"])
    process = subprocess.Popen(serve, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said = _health(f"http://127.0.0.1:{_METRICS_PORT}/healthz", process)
    finally:
        process.terminate()  # buildah kills what runs in the container
        process.communicate(timeout=_SECONDS)
        _buildah("rm", container)
    shares = f"{len(plan['kept'])} of {len(plan['kept']) + len(plan['skipped'])} file slices kept"
    return f"user {inspected['User']}, entry point {inspected['Entrypoint']}, {shares}, /healthz: {said}"


def _health(url: str, process: subprocess.Popen[str]) -> str:
    until = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the sidecar does not answer /healthz")


def _command(*words: object) -> list[str]:
    storage = [f"--root={WORK / 'storage'}", f"--runroot={WORK / 'run'}", "--storage-driver=vfs"]
    return ["buildah", *storage, *(str(word) for word in words)]


def _buildah(*words: object) -> str:
    return _run(*_command(*words))


def _run(*words: object) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
