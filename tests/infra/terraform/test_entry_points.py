"""Entry points as deployed: each starts by the command, settings and secrets that Terraform gives it (D2)."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import httpx
import pytest

from infra.emulators.process import find_free_port, run_server
from infra.local.routing import ROOT, load_entry_points
from tests.cloud_local.instances import run_function
from tests.infra.containers.test_containers import copy_what_the_image_gets
from tests.infra.terraform.stack import (
    evaluate,
    evaluate_expressions,
    load_container,
    load_stack,
    name_application,
)

FUNCTIONS = {function.name: function for function in load_entry_points()}
UNCHECKED_HASH = 0b01


CREDENTIALS = {
    "type": "authorized_user",
    "client_id": "c",
    "client_secret": "s",
    "refresh_token": "r",
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the image, beside credentials of nobody: nothing is asked of Google here."""
    app = tmp_path_factory.mktemp("image") / "app"
    copy_what_the_image_gets(app)
    (app.parent / "credentials.json").write_text(json.dumps(CREDENTIALS))
    return app


def build_environment(function: str, app: Path, port: int) -> dict[str, str]:
    """Build what Cloud Run gives a container: its settings, its secrets, its port, and no more."""
    values = evaluate("services", "settings", "secrets")
    secrets = {name for name, readers in values["secrets"].items() if function in readers}
    return {
        **values["settings"][function],
        **dict.fromkeys(secrets, "key=a-value-of-at-least-thirty-two-characters"),
        "FUNCTION_TARGET": function,
        "FUNCTION_SOURCE": str(FUNCTIONS[function].source.relative_to(ROOT)),
        "K_SERVICE": function,
        "PORT": str(port),
        "HOST": "127.0.0.1",
        "GOOGLE_APPLICATION_CREDENTIALS": str(app.parent / "credentials.json"),
        "PYTHONPATH": str(app),
        "HOME": str(app.parent),
        "PATH": os.environ["PATH"],
    }


def ask_for_health(environment: dict[str, str], app: Path) -> httpx.Response:
    """Start an entry point and ask for its health, for which it builds everything that it needs."""
    port, log = int(environment["PORT"]), app.parent / f"{environment['K_SERVICE']}.log"
    with socket.create_server(("127.0.0.1", 0)) as firestore:
        emulator = {"FIRESTORE_EMULATOR_HOST": f"127.0.0.1:{firestore.getsockname()[1]}"}
        with run_function({**emulator, **environment}, log=log, folder=app):
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60)
    assert answer.is_success, log.read_text()[-3000:]
    return answer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_image_starts_each_entry_point_with_its_settings_alone_d2(
    name: str, image: Path
) -> None:
    variables = {pair["name"]: pair["value"] for pair in load_container()["env"]}
    assert variables == {"FUNCTION_TARGET": "${each.key}", "FUNCTION_SOURCE": "${each.value.source}"}  # fmt: skip

    answer = ask_for_health(build_environment(name, image, find_free_port()), image)

    assert answer.json() == {"status": "ok", "function": name}


def test_sockets_are_carried_by_uvicorn_itself_l3() -> None:
    values = evaluate("services", "applications", "socket_protocols")

    for name in FUNCTIONS:
        expected = [values["applications"][name], values["socket_protocols"][name]]
        assert [*name_application(name).values()] == expected
    assert values["applications"]["listen"] == "functions.media.listen:app"


LOAD_CODE = """
import os, sys
import functions_framework
for name in sys.argv[1:]:
    os.environ["FUNCTION_TARGET"] = name
    print(name, type(functions_framework.create_app(name, os.environ["GOOGLE_FUNCTION_SOURCE"])).__name__)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `gcloud functions deploy --source=.` uploads: the repository without .gcloudignore's files."""
    folder = tmp_path_factory.mktemp("package") / "workspace"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in tracked.stdout.decode().split("\0"):
        if (ROOT / name).is_file() and not is_ignored(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def is_ignored(name: str) -> bool:
    patterns = (ROOT / ".gcloudignore").read_text().splitlines()[1:]
    return any(name == pattern or name.startswith(f"{pattern}/") for pattern in patterns)


@pytest.mark.parametrize(
    "source", sorted({str(f.source) for f in FUNCTIONS.values() if not f.carries_sockets})
)
def test_the_packaged_source_starts_as_functions_d2(source: str, package: Path) -> None:
    names = [name for name, function in FUNCTIONS.items() if str(function.source) == source]
    relative = str(Path(source).relative_to(ROOT))
    environment = {"PYTHONPATH": str(package), "PATH": os.environ["PATH"], "HOME": str(package)}

    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD_CODE, *names],
        cwd=package,
        env={**environment, "GOOGLE_FUNCTION_SOURCE": relative},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert answer.stdout.split() == [word for name in names for word in (name, "Starlette")], (
        answer.stderr[-2000:]
    )


@pytest.mark.parametrize("name", ["chat", "sweep"])
def test_a_function_from_source_starts_with_the_settings_that_are_put_out_for_it_f1(
    name: str, package: Path, tmp_path: Path
) -> None:
    """As docs/deploy.md says: by the framework's own command, with no files of the image."""
    output = load_stack("services").outputs["function_settings"]["value"]
    written = evaluate_expressions("services", f"{{ {name} = {output.removeprefix('${').removesuffix('}')}.{name} }}")[name]  # fmt: skip
    (tmp_path / "credentials.json").write_text(json.dumps(CREDENTIALS))
    port = find_free_port()
    variables = {
        **written["settings"],
        **dict.fromkeys(re.findall(r"(\w+)=\w+:latest", written["secrets"]), "key=a-value-of-at-least-thirty-two-characters"),
        "FUNCTION_TARGET": name, "K_SERVICE": f"{name}-from-source", "PORT": str(port), "PATH": os.environ["PATH"], "HOME": str(tmp_path),
        "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "credentials.json"), "PYTHONPATH": str(package),
    }  # fmt: skip
    assert written["settings"]["PYTHONPATH"] == "/workspace"

    with socket.create_server(("127.0.0.1", 0)) as firestore:
        variables["FIRESTORE_EMULATOR_HOST"] = f"127.0.0.1:{firestore.getsockname()[1]}"
        framework = [sys.executable, "-m", "functions_framework", f"--source={FUNCTIONS[name].source.relative_to(ROOT)}", f"--target={name}", f"--port={port}", "--host=127.0.0.1"]  # fmt: skip
        command = ["env", "-i", *(f"{key}={text}" for key, text in variables.items()), *framework]
        with run_server(command, port=port, log=tmp_path / "log", cwd=package):
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=60)

    assert answer.json() == {"status": "ok", "function": name}


def test_the_image_holds_bytecode_that_is_taken_as_it_is_d2(image: Path) -> None:
    """The image's own command, on the code alone: packages are compiled in the same way."""
    [command] = [
        line for line in (ROOT / "Dockerfile").read_text().splitlines() if "compileall" in line
    ]
    options = command.partition("-m compileall ")[2].replace("/opt/venv/lib ", "").split()

    subprocess.run(
        [sys.executable, "-m", "compileall", *options], cwd=image, check=True, timeout=300
    )

    sources = [path for name in ("functions", "shared") for path in (image / name).rglob("*.py")]
    flags = {read_flags(Path(cache_from_source(str(path)))) for path in sources}
    assert len(sources) > 400
    assert flags == {UNCHECKED_HASH}


def read_flags(bytecode: Path) -> int:
    """Read the second word of a .pyc: bit 0 is set for a hash, bit 1 where it is checked."""
    return int.from_bytes(bytecode.read_bytes()[4:8], "little")
