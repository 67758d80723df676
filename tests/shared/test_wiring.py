"""What stands behind the ports in the cloud, or which setting is missing."""

import subprocess
import sys

from infra.local.routing import ROOT

BUILD = """
from shared import wiring
print(type(wiring.tasks()).__name__, type(wiring.push()).__name__)
"""
CLOUD = {"KEEPSAKE_WORLD": "cloud", "GOOGLE_CLOUD_PROJECT": "demo"}
TASKS = {
    "TASKS_QUEUE": "projects/demo/locations/us-central1/queues/keepsake",
    "TASKS_SERVICE_ACCOUNT": "caller@demo.iam.gserviceaccount.com",
}


def built(**environment: str) -> subprocess.CompletedProcess[str]:
    """Build in a process of its own: a process builds once."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD],
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
