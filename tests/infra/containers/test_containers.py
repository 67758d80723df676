"""Container files: always linted, and run without an engine as far as that goes; built where one answers (U6).

The test that builds the image is the only one that REQUIRE_ALL does not demand.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import yaml
from jsonschema import Draft7Validator

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from tests.e2e.waiting import wait_until

SCHEMA = Path(__file__).with_name("compose-spec.json")
"""Of compose-spec at 2026-06-23, schema/compose-spec.json."""
COPY = re.compile(r"^COPY (?!--from)(.+) (\S+)$", re.MULTILINE)
DOCKERFILE = (ROOT / "Dockerfile").read_text()
BUILD_TIMEOUT_S = 900


def find_engine() -> str | None:
    """Find a container engine whose daemon answers."""
    for name in ("docker", "podman"):
        if path := shutil.which(name):
            answer = subprocess.run([path, "info"], capture_output=True, check=False, timeout=60)
            if answer.returncode == 0:
                return path
    return None


def copy_what_the_image_gets(folder: Path) -> None:
    for sources, target in COPY.findall(DOCKERFILE):
        if target.startswith("/"):
            continue
        for source in map(ROOT.joinpath, sources.split()):
            if source.is_dir():
                shutil.copytree(source, folder / target)
            else:
                (folder / target).mkdir(parents=True, exist_ok=True)
                shutil.copy(source, folder / target)


def test_hadolint_finds_nothing_in_the_dockerfile_u6() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")

    result = subprocess.run(
        [hadolint, ROOT / "Dockerfile"], capture_output=True, check=False, text=True, timeout=60
    )

    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_the_compose_file_is_as_the_compose_specification_says_u6() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    validator = Draft7Validator(json.loads(SCHEMA.read_text()))

    assert [error.message for error in validator.iter_errors(compose)] == []
    assert not validator.is_valid({**compose, "services": {"keepsake": {"prots": []}}})


def test_what_is_installed_is_named_by_its_version_or_its_hash_u6() -> None:
    texts = (ROOT / name for name in ("Makefile", "Dockerfile"))
    lines = "\n".join(path.read_text() for path in texts).replace("\\\n", " ").splitlines()

    installing = [line for line in lines if "pip install" in line]

    assert installing
    assert [
        line for line in installing if "==" not in line and "--require-hashes" not in line
    ] == []


def test_compose_publishes_on_this_machine_alone_and_drops_every_right_u6() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["keepsake"]

    assert [port.startswith("127.0.0.1:") for port in service["ports"]] == [True]
    assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["10001"]


def test_what_the_image_gets_serves_the_product_u6(tmp_path: Path) -> None:
    """The same command on the same files: a file that the image lacks fails here too."""
    app = tmp_path / "app"
    copy_what_the_image_gets(app)
    port = find_free_port()
    settings = {"PORT": str(port), "DATA_DIR": str(tmp_path / "data"), "ALLOW_REMOTE": "1"}
    command = ["env", "-u", "OPENAI_API_KEY", "-u", "PYTHONPATH"]
    command += [f"{name}={text}" for name, text in settings.items()]
    command += [sys.executable, "-m", "infra.local"]
    with run_process(command, port=port, log=tmp_path / "log", cwd=app):
        origin = f"http://127.0.0.1:{port}"
        page = httpx.get(origin)
        refused = httpx.get(f"{origin}/v1/conversations")
    for module in (
        "infra.local.users",
        "infra.dead_letters",
        "infra.reindex",
        "infra.local.import_",
    ):
        help_text = subprocess.run(
            [sys.executable, "-m", module, "--help"],
            cwd=app,
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        assert b"usage" in help_text

    assert (page.status_code, refused.status_code) == (200, 401)


def test_the_build_context_holds_what_is_copied_and_neither_data_nor_history_u6() -> None:
    kept = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    sources = {source for names, _ in COPY.findall(DOCKERFILE) for source in names.split()}

    assert {source for source in sources if not source.startswith(tuple(kept))} == set()


def test_the_image_builds_and_serves_u6() -> None:
    """Outside REQUIRE_ALL: an engine's daemon cannot run everywhere that everything else can."""
    engine = find_engine()
    if engine is None:
        pytest.skip("no container engine's daemon answers: the image was not built")
    name, port = f"keepsake-{uuid4().hex[:8]}", find_free_port()
    build = [engine, "build", "--tag", name, str(ROOT)]
    subprocess.run(build, check=True, timeout=BUILD_TIMEOUT_S)
    run = [engine, "run", "--detach", "--name", name, "--read-only", "--cap-drop=ALL"]
    run += ["--tmpfs=/tmp", f"--publish=127.0.0.1:{port}:8080", name]
    try:
        subprocess.run(run, check=True, timeout=60)
        assert wait_until(lambda: serves(f"http://127.0.0.1:{port}"), within_s=60)
    finally:
        subprocess.run([engine, "rm", "--force", "--volumes", name], check=False, timeout=60)
        subprocess.run([engine, "rmi", "--force", name], check=False, timeout=60)


def serves(origin: str) -> bool | None:
    try:
        return httpx.get(f"{origin}/healthz").status_code == 200 or None
    except httpx.TransportError:
        return None
