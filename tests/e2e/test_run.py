"""`make run` as a process: its start, its refusals, and the data that survives its end."""

import resource
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from infra.local.routing import load_entry_points
from tests.e2e.product import (
    EXIT_TIMEOUT_S,
    Product,
    add_conversation,
    ask,
    build_conversation_body,
    build_model_environment,
    run_product,
    run_refused_start,
    wait_for_processing,
)
from tests.e2e.waiting import wait_until
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

CONVERSATION = build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")


def test_a_port_in_use_is_reported_in_one_line_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code, message = run_refused_start(tmp_path, PORT=str(port))

    assert code == 2
    assert message == (
        f"keepsake: cannot listen on 127.0.0.1:{port} (Address already in use): stop what uses "
        "it, or choose another with PORT=8081 make run\n"
    )


def test_a_public_address_is_refused_unless_allowed(tmp_path: Path) -> None:
    code, message = run_refused_start(tmp_path, HOST="0.0.0.0")  # noqa: S104 - it must not listen there

    assert code == 2
    assert message.startswith("keepsake: HOST=0.0.0.0 is reachable from outside")
    assert message.endswith("set ALLOW_REMOTE=1 if you mean it\n")
    assert message.count("\n") == 1


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    settings = {"ALLOW_REMOTE": "1", "KEEPSAKE_PASSWORD": "correct-horse-battery"}

    refusal = run_refused_start(tmp_path, HOST="192.0.2.1", **settings)

    assert refusal == (2, "keepsake: HOST=192.0.2.1 is no address of this machine\n")


def test_all_errors_of_the_environment_are_listed_at_once(tmp_path: Path) -> None:
    code, message = run_refused_start(
        tmp_path, KEEPSAKE_WORLD="moon", MODEL_CHEAP="x", MODEL_DEAR="y", PORT="p"
    )

    assert code == 2
    assert "KEEPSAKE_WORLD='moon': want embedded or cloud" in message
    assert "MODEL_CHEAP: unknown model role" in message
    assert "MODEL_DEAR: unknown model role" in message
    assert "PORT='p': want a number up to 65535" in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    "broken",
    [
        {"PORT": "99999"},
        {"HOST": "not a host"},
        {"EGRESS_DEV_ORIGINS": "nonsense"},
        {"EMBEDDER": "openai"},
        {"KEEPSAKE_WORLD": "cloud"},
        {"PUBLIC_URL": "keep.example.org"},
        {"WEB_SEARCH": "perplexity"},
    ],
    ids=lambda broken: next(iter(broken)),
)
def test_other_invalid_settings_are_reported_in_one_line(
    tmp_path: Path, broken: dict[str, str]
) -> None:
    code, message = run_refused_start(tmp_path, **broken)

    assert (code, message.count("\n"), message[:10]) == (2, 1, "keepsake: ")
    assert next(iter(broken.values())) in message


@pytest.mark.parametrize("below", ["", "data"])
def test_a_data_folder_where_a_file_stands_is_refused_with_what_to_do(
    tmp_path: Path, below: str
) -> None:
    folder = tmp_path / "README.md" / below
    (tmp_path / "README.md").write_text("in the way")

    assert run_refused_start(folder) == (
        2,
        f"keepsake: {folder}: a file is in its place: choose another folder with DATA_DIR=elsewhere\n",
    )


def test_a_damaged_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "keepsake.db"
    file.write_text("a text, as long as the head of a database at least" * 99)

    code, message = run_refused_start(tmp_path)

    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(f"keepsake: {file}: file is not a database: restore a backup")


def test_data_of_another_version_is_reported_in_one_line_with_what_to_do(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "keepsake.db")) as older:
        older.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY)")

    code, message = run_refused_start(tmp_path)

    assert (code, message.count("\n"), message[:10]) == (2, 1, "keepsake: ")
    assert f"{tmp_path / 'keepsake.db'} was made by another version of Keepsake" in message
    assert message.endswith("DATA_DIR=elsewhere make run\n")


@pytest.fixture(scope="module")
def started_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with run_product(tmp_path_factory.mktemp("run")) as running:
        yield running


def test_the_product_is_healthy_and_sends_security_headers(started_product: Product) -> None:
    with httpx.Client(base_url=started_product.origin, timeout=30) as http:
        health, page = http.get("/healthz"), http.get("/")

    assert health.json()["status"] == "ok"
    assert page.status_code == 200
    for answer in (health, page):
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8080", ""])
def test_a_foreign_host_name_is_refused_with_421(started_product: Product, host: str) -> None:
    answer = httpx.get(f"{started_product.origin}/healthz", headers={"Host": host})

    assert answer.status_code == 421


def test_internal_entry_points_are_not_on_the_public_port(started_product: Product) -> None:
    inner = [function.name for function in load_entry_points() if function.access == "internal"]

    assert inner
    with httpx.Client(base_url=started_product.origin) as http:
        for name in inner:
            for path in (f"/{name}", f"/{name}/"):
                assert http.post(path, json={}).status_code in (404, 405)


def test_an_app_on_the_port_of_the_examples_needs_no_question_t2(started_product: Product) -> None:
    with started_product.client("alice") as http:
        refused, accepted = (
            http.post(
                "/v1/apps", json={"name": "Shop", "external_integration": {"app_home_url": url}}
            )
            for url in ("http://127.0.0.1:9001", "http://127.0.0.1:9000")
        )

    assert (refused.status_code, refused.json()["code"]) == (422, "local_address")
    assert accepted.is_success


def test_a_token_stays_valid_after_a_restart(tmp_path: Path) -> None:
    with run_product(tmp_path) as first, first.client("alice") as http:
        token = http.headers["authorization"]
        http.post("/v1/conversations", json=CONVERSATION)
    with run_product(tmp_path) as second:
        headers = {"Authorization": token}
        response = httpx.get(f"{second.origin}/v1/conversations/offsite", headers=headers)

    assert response.json()["id"] == "offsite"


@pytest.fixture
def stalling_model() -> Iterator[ScriptedOpenai]:
    """Serve a model that stalls after some words."""
    with scripted_openai(Script(text="The offsite is on Friday, I think", stall_after=4)) as server:
        yield server


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGTERM,), (signal.SIGINT,), (signal.SIGINT, signal.SIGINT)],
    ids=["SIGTERM", "Ctrl-C", "Ctrl-C twice"],
)
def test_an_interrupted_answer_is_stored_as_far_as_it_came(
    tmp_path: Path, stalling_model: ScriptedOpenai, signals: Sequence[signal.Signals]
) -> None:
    with (
        run_product(tmp_path, **build_model_environment(stalling_model.url)) as first,
        first.client("alice") as http,
        http.stream("POST", "/v2/messages", json={"text": "When?"}) as answer,
    ):
        next(frame for frame in answer.iter_raw() if b"is" in frame)
        stop(first, signals)
        assert first.process.wait(EXIT_TIMEOUT_S) == 0
    with run_product(tmp_path) as second, second.client("alice") as http:
        stored_answer, stored_question, *_ = http.get("/v2/messages").json()

    assert (stored_question["sender"], stored_question["text"]) == ("human", "When?")
    assert stored_answer["text"].startswith("The offsite is")
    assert stored_answer["metadata"]["outcome"] == "interrupted"


def stop(started_product: Product, signals: Sequence[signal.Signals]) -> None:
    """Send the signals, each after the previous one was received."""
    for number in signals:
        started_product.process.send_signal(number)
        wait_until(lambda: None if is_listening(started_product) else True)


def is_listening(started_product: Product) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(started_product.origin.rpartition(":")[2]))) == 0


def test_what_a_kill_interrupted_is_completed_within_15_s_of_the_next_start(
    tmp_path: Path,
) -> None:
    with (
        scripted_openai(Script(first_token_ms=1e9)) as silent_model,
        run_product(tmp_path, **build_model_environment(silent_model.url)) as first,
        first.client("alice") as http,
    ):
        for number in range(8):
            http.post("/v1/conversations", json={**CONVERSATION, "id": f"talk{number}"})
        wait_until(lambda: len(silent_model.requests) >= 8 or None)
        first.process.kill()
    with run_product(tmp_path) as second, second.client("alice") as http:
        assert wait_until(lambda: is_all_completed(http) or None, within_s=15)


def is_all_completed(http: httpx.Client) -> bool:
    statuses = [talk["status"] for talk in http.get("/v1/conversations").json()]
    return statuses == ["completed"] * 8


def test_a_conversation_added_before_a_crash_is_processed_after_it(tmp_path: Path) -> None:
    with run_product(tmp_path) as first, first.client("alice") as http:
        response = http.post("/v1/conversations", json=CONVERSATION)
        first.process.kill()
    with run_product(tmp_path) as second, second.client("alice") as http:
        stored = wait_for_processing(http, "offsite", within_s=15)
        answer = ask(http, "When is the Lisbon offsite?")

    assert response.status_code == 202
    assert stored["status"] == "completed"
    assert answer.done is not None
    assert answer.done["memories_id"] == ["offsite"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a running process")
def test_a_full_disk_refuses_what_is_written_until_there_is_room(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as http:
        add_conversation(http, {**CONVERSATION, "id": "before"})
        limit_files(product, 1)
        read = http.get("/v1/conversations/before")
        refused = http.post("/v1/conversations", json=CONVERSATION)
        limit_files(product, resource.RLIM_INFINITY)
        stored = add_conversation(http, CONVERSATION)

    assert (read.status_code, refused.status_code, stored["status"]) == (200, 503, "completed")


def limit_files(product: Product, size_bytes: int) -> None:
    """Let the product write no file beyond this size, as on a disk that is full."""
    _, most = resource.prlimit(product.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(product.process.pid, resource.RLIMIT_FSIZE, (size_bytes, most))
