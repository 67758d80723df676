"""README's job through every function as a process of its own, in the cloud world (D8, D3)."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from infra.deploy.smoke_test import find_faults
from tests.cloud_local.cloud import Cloud
from tests.e2e.waiting import wait_until
from tests.old_app import parse_as_fixed_app

pytestmark = [pytest.mark.emulators, pytest.mark.timeout(600)]

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


@pytest.fixture
def ann(cloud: Cloud) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {cloud.sign_up('ann@example.com')}"}
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
    ann.delete("/v1/conversations/offsite")
    second_answer = parse_as_fixed_app([ann.post("/v2/messages", json=QUESTION).content]).done

    assert answer is not None
    assert answer["memories_id"] == ["offsite"]
    assert second_answer is not None
    assert second_answer["memories_id"] == []


def test_one_origin_serves_console_and_functions_with_headers_d3(cloud: Cloud) -> None:
    """As the smoke test of a deployment sees it, but for what TLS adds."""
    with httpx.Client(timeout=60) as http:
        faults = list(find_faults(http, cloud.origin))

    assert faults == ["The console is sent without strict-transport-security."]
