"""README's job, by requests and on the console, through every function as a process of its own in the cloud world (D8, D3).

One file, because the cloud starts once for it.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Page, expect

from infra.deploy.smoke_test import find_faults
from infra.local.browser import run_chromium
from tests.cloud_local.cloud import Cloud, run_cloud
from tests.conftest import run_or_skip
from tests.e2e.waiting import wait_until
from tests.old_app import parse_as_fixed_app
from tests.servers.collector import Place
from tests.web.console import Console
from tests.web.test_firebase_sign_in import PASSWORD, answer_by, enter

pytestmark = [pytest.mark.emulators, pytest.mark.timeout(600)]

TIMEOUT_MS = 60_000
GOOGLE_HOSTS = ("identitytoolkit.googleapis.com", "securetoken.googleapis.com")
TRANSCRIPT = "Ann: The Lisbon offsite moves to Friday.\nMe: Good, I will book the train."

TALK = {
    "id": "offsite",
    "started_at": "2026-03-02T09:00:00+01:00",
    "finished_at": "2026-03-02T09:05:00+01:00",
    "source": "phone",
    "language": "en",
    "transcript_segments": [
        {"text": "The Lisbon offsite moves to Friday.", "speaker": "Ann", "is_user": False, "start": 0, "end": 4},
        {"text": "Good, I will book the train.", "speaker": "Me", "is_user": True, "start": 4, "end": 7},
    ],
}  # fmt: skip
QUESTION = {"text": "When is the Lisbon offsite?"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("cloud")
    with run_or_skip(lambda: run_cloud(folder)) as cloud:
        yield cloud


@pytest.fixture
def ann(cloud: Cloud) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {cloud.sign_up(f'{uuid4().hex}@example.com')}"}
    with httpx.Client(base_url=cloud.origin, headers=headers, timeout=60) as http:
        yield http


def test_every_function_is_well_d8(cloud: Cloud) -> None:
    for name, url in cloud.urls.items():
        health = httpx.get(f"{url}/healthz", timeout=60)
        assert health.json() == {"status": "ok", "function": name}, read_log(cloud, name)


def read_log(cloud: Cloud, name: str) -> str:
    return (cloud.logs / f"{name}.log").read_text()[-3000:]


def test_a_conversation_is_created_processed_asked_about_and_cited_d8(ann: httpx.Client) -> None:
    created = ann.post("/v1/conversations", json=TALK)

    def load_processed() -> dict[str, Any] | None:
        talk: dict[str, Any] = ann.get("/v1/conversations/offsite").json()
        return talk if talk.get("status") == "completed" else None

    assert created.status_code == 202, created.text
    wait_until(load_processed, within_s=120)
    answer = parse_as_fixed_app([ann.post("/v2/messages", json=QUESTION).content]).done
    ann.delete("/v1/conversations/offsite?cascade=true")
    second_answer = parse_as_fixed_app([ann.post("/v2/messages", json=QUESTION).content]).done

    assert answer is not None
    assert answer["memories_id"] == ["offsite"]
    assert second_answer is not None
    assert second_answer["memories_id"] == []


def test_a_misspelt_question_finds_its_talk_by_the_dense_index_d8(ann: httpx.Client) -> None:
    """No word of it is in the talk; the model's vectors are near where words are spelt alike."""
    ann.post("/v1/conversations", json=TALK).raise_for_status()
    query = {"query": "Lisbonn offsitte Fridday"}

    def find() -> list[str]:
        answer = ann.post("/v1/conversations/search", json=query).raise_for_status()
        return [item["id"] for item in answer.json()["items"]]

    wait_until(lambda: find() == ["offsite"], within_s=120)


def test_an_instance_that_is_ended_finishes_its_answer_and_another_takes_over_d8(
    cloud: Cloud, ann: httpx.Client
) -> None:
    with ann.stream("POST", "/v2/messages", json=QUESTION) as answer:
        frames = answer.iter_raw()
        begun = next(frames)
        cloud.services["chat"].replace()
        whole = begun + b"".join(frames)

    assert parse_as_fixed_app([whole]).done
    assert parse_as_fixed_app([ann.post("/v2/messages", json=QUESTION).content]).done


def test_a_file_of_more_than_32_mib_comes_back_whole_or_in_parts_d8(ann: httpx.Client) -> None:
    part, count = b"A line of a long log.".ljust(1_048_576, b"\n") * 8, 5
    start = {"Tus-Resumable": "1.0.0", "Upload-Length": str(len(part) * count),
             "Upload-Metadata": "filename bG9nLnR4dA=="}  # fmt: skip
    upload = ann.post("/v1/uploads", headers=start).raise_for_status().headers["Location"]
    for n in range(count):
        headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(n * len(part)),
                   "Content-Type": "application/offset+octet-stream"}  # fmt: skip
        ann.patch(upload, content=part, headers=headers).raise_for_status()
    body = {"uploads": [upload.rpartition("/")[2]]}
    [file] = ann.post("/v2/files", json=body).raise_for_status().json()
    content = f"/v2/files/{file['id']}/content"

    assert ann.get(content).content == part * count
    rest = ann.get(content, headers={"Range": f"bytes={len(part) * count - 9}-"})
    assert (rest.status_code, rest.content) == (206, part[-9:])


def test_a_task_with_a_day_reaches_the_phone_by_cloud_tasks_and_fcm_d8(
    cloud: Cloud, ann: httpx.Client
) -> None:
    device = {"fcm_token": "phone-of-ann", "time_zone": "Europe/Berlin"}
    ann.post("/v1/users/fcm-token", json=device).raise_for_status()
    due = {"description": "Book the train", "due_at": "2030-03-02T09:00:00Z"}
    ann.post("/v1/action-items", json=due).raise_for_status()

    message = wait_until(lambda: next(iter(cloud.fcm.messages), None))

    assert message["token"] == "phone-of-ann"
    assert "Book the train" in str(message)


def test_an_answer_and_a_conversation_are_one_trace_each_over_all_processes_d7(
    cloud: Cloud, ann: httpx.Client
) -> None:
    """Over HTTP, Pub/Sub and Cloud Tasks. A Firestore trigger begins a trace: Firestore passes none on."""
    question, talk = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
    asked, noted = ("chat", "POST /v2/messages"), ("after_turn", "process after_turn")
    processed = ("process_conversation", "process process_conversation")
    triggered = ("on_conversation_written", "process on_conversation_written")

    ann.post("/v1/conversations", json=TALK, headers=continue_trace(talk)).raise_for_status()
    ann.post("/v2/messages", json=QUESTION, headers=continue_trace(question)).raise_for_status()

    def find_processing() -> dict[Place, set[Place | None]] | None:
        traces = (cloud.collector.find_parents(span.trace_id) for span in cloud.collector.spans)
        return next((trace for trace in traces if {processed, triggered} <= trace.keys()), None)

    processing = wait_until(find_processing)
    wait_until(lambda: {asked, noted} <= cloud.collector.find_places(question) or None)
    parents = cloud.collector.find_parents(question)
    assert parents[asked] == {None}
    assert parents[("chat", "send turn.ended")] == {("chat", "invoke_agent keepsake")}
    assert parents[noted] == {("chat", "send turn.ended")}
    assert processing[processed] == {(triggered[0], "send conversation.changed")}
    assert cloud.collector.find_places(talk) == {("library", "POST /v1/conversations")}


def continue_trace(trace_id: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"}


def test_one_origin_serves_console_and_functions_with_headers_d3(cloud: Cloud) -> None:
    """As the smoke test of a deployment sees it, but for what TLS adds."""
    with httpx.Client(timeout=60) as http:
        faults = list(find_faults(http, cloud.origin))

    assert faults == ["The console is sent without strict-transport-security."]


@pytest.fixture
def page(cloud: Cloud) -> Iterator[Page]:
    """A browser at the console; what it asks of Google's servers is answered by the Auth emulator."""
    with run_or_skip(run_chromium) as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
        context.set_default_timeout(TIMEOUT_MS)
        for host in GOOGLE_HOSTS:
            context.route(f"https://{host}/**", lambda route: answer_by(cloud.auth, route))
        page = context.new_page()
        page.goto(cloud.origin)
        yield page


@pytest.mark.browser
def test_the_console_signs_in_adds_a_conversation_and_cites_it_d3(cloud: Cloud, page: Page) -> None:
    email = f"{uuid4().hex}@example.com"
    console = Console(page, cloud.origin, [], [])
    page.on("pageerror", lambda error: console.page_errors.append(str(error)))

    enter(page, email, PASSWORD, "Create an account")
    expect(page.locator("#account-button")).to_have_text(email, timeout=TIMEOUT_MS)
    page.get_by_label("Transcript", exact=True).fill(TRANSCRIPT)
    page.get_by_role("button", name="Add", exact=True).click()
    card = page.locator("#conversations .card").first
    expect(card).to_have_attribute("aria-busy", "false", timeout=TIMEOUT_MS)
    answer = console.ask("When is the Lisbon offsite?")

    expect(answer.locator(".marker").first).to_have_text("1")
    answer.locator(".source").first.click()
    reader = page.locator("#reader")
    expect(reader.locator(".transcript li").first).to_contain_text("Lisbon", timeout=TIMEOUT_MS)
    assert console.page_errors == []
