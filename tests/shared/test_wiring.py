"""What stands behind the ports in the cloud, or which setting is missing."""

import subprocess
import sys

import pytest

from infra.local.routing import ROOT
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

TASKS_AND_PUSH = """
from shared import wiring
print(type(wiring.tasks()).__name__, type(wiring.push()).__name__)
"""
ASK = """
import asyncio, sys
from shared import wiring
from shared.domain.model import UserText
async def ask(role):
    async with wiring.model().stream(role, [UserText(text="Hello")]) as events:
        async for event in events:
            pass
asyncio.run(ask(sys.argv[1]))
"""
CLOUD = {"KEEPSAKE_WORLD": "cloud", "GOOGLE_CLOUD_PROJECT": "demo"}
TASKS = {
    "TASKS_QUEUE": "projects/demo/locations/us-central1/queues/keepsake",
    "TASKS_SERVICE_ACCOUNT": "caller@demo.iam.gserviceaccount.com",
}


def built(
    program: str = TASKS_AND_PUSH, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Build in a process of its own: a process builds once."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": ".", **CLOUD, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_t16_in_the_cloud_notifications_go_by_cloud_tasks_and_fcm() -> None:
    assert built(**TASKS).stdout.split() == ["GoogleTasks", "FcmPush"]


def test_in_the_cloud_no_queue_is_guessed() -> None:
    ended = built()

    assert ended.returncode != 0
    assert "TASKS_QUEUE is missing: the cloud world needs it" in ended.stderr


KEYS = "from shared import wiring; print(type(wiring.keys()).__name__)"


def test_p6_in_the_cloud_tokens_are_wrapped_by_kms_and_by_no_key_of_ours() -> None:
    without = built(KEYS)

    assert built(KEYS, KMS_KEY="projects/p/…/tokens").stdout.split() == ["KmsKeys"]
    assert without.returncode != 0
    assert "KMS_KEY is missing: the cloud world needs it" in without.stderr


def asked(server: ScriptedOpenai) -> list[tuple[str, str]]:
    return [(each.body["model"], each.authorization) for each in server.requests]


@pytest.mark.parametrize(
    ("role", "elsewhere", "expected"),
    [
        ("agent", False, ("stand-in", "Bearer our-key")),
        ("persona", False, ("stand-in", "Bearer router-key")),
        ("agent", True, ("stand-in", "Bearer their-key")),
        ("persona", True, ("stand-in", "Bearer their-key")),
    ],
)
def test_c57_a_stand_in_is_asked_where_it_is_with_the_key_that_belongs_there(
    role: str, *, elsewhere: bool, expected: tuple[str, str]
) -> None:
    down = Script(status=503)
    with scripted_openai() as ours, scripted_openai() as theirs:
        ours.play(down, down)
        there = {"FALLBACK_BASE_URL": theirs.url, "FALLBACK_API_KEY": "their-key"}
        ended = built(
            ASK,
            role,
            OPENAI_API_KEY="our-key",
            OPENAI_BASE_URL=ours.url,
            OPENROUTER_API_KEY="router-key",
            OPENROUTER_BASE_URL=ours.url,
            FALLBACK_MODELS=f"{role}=stand-in",
            **(there if elsewhere else {}),
        )

    assert ended.returncode == 0, ended.stderr
    assert (asked(ours) + asked(theirs))[2:] == [expected]
    assert len(asked(theirs)) == elsewhere
