"""`make run` as a process: how it starts, what it refuses, and what survives its end."""

import signal
import socket
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from infra.emulators.process import free_port
from infra.local.routing import ROOT, entry_points
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai
from tests.worlds.product import (
    Product,
    ask,
    command,
    conversation,
    processed,
    product,
    with_model,
)
from tests.worlds.waiting import wait_until

LIMIT_S = 30
SAID = conversation("offsite", "The Lisbon offsite moves to Friday.")


def refused(folder: Path, **environment: str) -> tuple[int, str]:
    """Start what must not start; return its exit code and what it says."""
    told = {"PORT": str(free_port()), "DATA_DIR": str(folder), **environment}
    ended = subprocess.run(
        command(**told), cwd=ROOT, capture_output=True, check=False, timeout=LIMIT_S
    )
    return ended.returncode, ended.stderr.decode()


def test_a_taken_port_is_said_in_one_line_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused(tmp_path, PORT=str(port))

    assert code == 2
    assert said == (
        f"keepsake: cannot listen on 127.0.0.1:{port} (Address already in use): stop what uses "
        "it, or choose another with PORT=8081 make run\n"
    )


def test_an_address_that_others_reach_is_refused_unless_meant(tmp_path: Path) -> None:
    code, said = refused(tmp_path, HOST="0.0.0.0")  # noqa: S104 - it must not listen there

    assert code == 2
    assert said.startswith("keepsake: HOST=0.0.0.0 is reachable from outside")
    assert said.endswith("set ALLOW_REMOTE=1 if you mean it\n")
    assert said.count("\n") == 1


def test_all_that_is_wrong_with_the_environment_is_listed_at_once(tmp_path: Path) -> None:
    code, said = refused(tmp_path, KEEPSAKE_WORLD="moon", MODEL_CHEAP="x", MODEL_DEAR="y", PORT="p")

    assert code == 2
    assert "KEEPSAKE_WORLD='moon': want embedded or cloud" in said
    assert "MODEL_CHEAP: unknown model role" in said
    assert "MODEL_DEAR: unknown model role" in said
    assert "PORT='p': want a number up to 65535" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "broken",
    [{"PORT": "99999"}, {"HOST": "not a host"}, {"EGRESS_DEV_ORIGINS": "nonsense"}],
    ids=lambda broken: next(iter(broken)),
)
def test_other_wrong_values_are_one_line_too(tmp_path: Path, broken: dict[str, str]) -> None:
    code, said = refused(tmp_path, **broken)

    assert (code, said.count("\n"), said[:10]) == (2, 1, "keepsake: ")
    assert next(iter(broken.values())) in said


def test_a_data_directory_that_cannot_be_made_is_one_line_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    code, said = refused(tmp_path, DATA_DIR=str(tmp_path / "file" / "data"))

    assert (code, said.count("\n"), said[:10]) == (2, 1, "keepsake: ")
    assert "DATA_DIR" in said


def test_data_of_another_version_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "keepsake.db")) as older:
        older.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY)")

    code, said = refused(tmp_path)

    assert (code, said.count("\n"), said[:10]) == (2, 1, "keepsake: ")
    assert f"{tmp_path / 'keepsake.db'} was made by another version of Keepsake" in said
    assert said.endswith("DATA_DIR=elsewhere make run\n")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("run")) as running:
        yield running


def test_it_is_healthy_and_its_pages_are_guarded(started: Product) -> None:
    with httpx.Client(base_url=started.origin) as http:
        health, page = http.get("/healthz"), http.get("/")

    assert health.json()["status"] == "ok"
    assert page.status_code == 200
    for answer in (health, page):
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8080", ""])
def test_a_foreign_host_name_is_misdirected(started: Product, host: str) -> None:
    answer = httpx.get(f"{started.origin}/healthz", headers={"Host": host})

    assert answer.status_code == 421


def test_internal_entry_points_are_not_on_the_public_port(started: Product) -> None:
    inner = [function.name for function in entry_points() if function.access == "internal"]

    assert inner
    for name in inner:
        for path in (f"/{name}", f"/{name}/"):
            assert httpx.post(f"{started.origin}{path}", json={}).status_code in (404, 405)


def test_a_token_stays_good_over_a_restart(tmp_path: Path) -> None:
    with product(tmp_path) as first, first.client("alice") as http:
        token = http.headers["authorization"]
        http.post("/v1/conversations", json=SAID)
    with product(tmp_path) as second:
        headers = {"Authorization": token}
        found = httpx.get(f"{second.origin}/v1/conversations/offsite", headers=headers)

    assert found.json()["id"] == "offsite"


@pytest.fixture
def stalling() -> Iterator[ScriptedOpenai]:
    """Serve a model that falls silent after some words."""
    with scripted_openai(Script(text="The offsite is on Friday, I think", stall_after=4)) as server:
        yield server


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGTERM,), (signal.SIGINT,), (signal.SIGINT, signal.SIGINT)],
    ids=["SIGTERM", "Ctrl-C", "Ctrl-C twice"],
)
def test_an_answer_that_is_stopped_midway_is_kept_as_far_as_it_came(
    tmp_path: Path, stalling: ScriptedOpenai, signals: Sequence[signal.Signals]
) -> None:
    with (
        product(tmp_path, **with_model(stalling.url)) as first,
        first.client("alice") as http,
        http.stream("POST", "/v2/messages", json={"text": "When?"}) as answer,
    ):
        next(frame for frame in answer.iter_raw() if b"is" in frame)
        stop(first, signals)
        assert first.process.wait(LIMIT_S) == 0
    with product(tmp_path) as second, second.client("alice") as http:
        kept, asked, *_ = http.get("/v2/messages").json()

    assert (asked["sender"], asked["text"]) == ("human", "When?")
    assert kept["text"].startswith("The offsite is")
    assert kept["metadata"]["outcome"] == "interrupted"


def stop(started: Product, signals: Sequence[signal.Signals]) -> None:
    """Send the signals, each after the one before was heard."""
    for number in signals:
        started.process.send_signal(number)
        wait_until(lambda: None if listens(started) else True)


def listens(started: Product) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(started.origin.rpartition(":")[2]))) == 0


def test_what_was_handed_in_before_a_crash_is_processed_after_it(tmp_path: Path) -> None:
    with product(tmp_path) as first, first.client("alice") as http:
        taken = http.post("/v1/conversations", json=SAID)
        first.process.kill()
    with product(tmp_path) as second, second.client("alice") as http:
        kept = processed(
            http, "offsite", within_s=200
        )  # killed in its midst, a lease runs out first
        shown = ask(http, "When is the Lisbon offsite?")

    assert taken.status_code == 202
    assert kept["status"] == "completed"
    assert shown.done is not None
    assert shown.done["memories_id"] == ["offsite"]
