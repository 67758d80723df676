"""Fuzzer (`make fuzz`): checks that no route answers 5xx or what docs/openapi.json does not describe.

A route that let nobody in was not tried, which fails as well.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.bench.processes import LOCAL_KEY, ROOT, build_environment, run_keepsake_on
from infra.local.local_key import HEADER

CONFIG = Path(__file__).with_name("schemathesis.toml")
LOG = ROOT / ".cache/fuzz.log"
USER_ID = "alice"
FEWEST_ASKED = 4
"""Some requests are meant to be refused."""
ACTIONS = (
    "create_conversation",
    "create_facts",
    "read_memories",
    "read_conversations",
    "read_tasks",
)
SAMPLE_BODIES: Mapping[str, Mapping[str, object]] = {
    "/v1/conversations": {
        "started_at": "2026-03-02T09:00:00Z",
        "finished_at": "2026-03-02T09:05:00Z",
        "transcript_segments": [
            {
                "text": "Ann flies to Lisbon.",
                "speaker": "Ann",
                "is_user": False,
                "start": 0,
                "end": 4,
            }
        ],
    },
    "/v3/memories": {"content": "Likes trains"},
    "/v1/action-items": {"description": "Book the train"},
    "/v1/users/people": {"name": "Ann"},
    "/v1/goals": {"title": "Read books"},
}
"""One record of every kind, so that not every answer is 404."""
APP = {
    "name": "Fuzz",
    "capabilities": ["external_integration"],
    "external_integration": {"actions": [{"action": action} for action in ACTIONS]},
}
DEVELOPER_KEY = {
    "name": "fuzz",
    "scopes": [
        f"{kind}:{access}"
        for kind in ("conversations", "memories", "action_items", "goals")
        for access in ("read", "write")
    ],
}


def main() -> int:
    """Return 1 if a route failed a check; the product's log is then copied to LOG."""
    options = _build_parser().parse_args()
    with tempfile.TemporaryDirectory() as data, run_keepsake_on(Path(data)) as product:
        origin = f"http://127.0.0.1:{product.port}"
        failed = _fuzz(origin, options.seconds, options.seed, _create_callers(origin))
        untried = list_untried(product.log.read_text().splitlines())
        if untried:
            print(
                "keepsake: these routes let nobody in, so they were not tried:",
                *untried,
                sep="\n  ",
            )
        failed = failed or bool(untried)
        if failed:
            LOG.parent.mkdir(exist_ok=True)
            shutil.copy(product.log, LOG)
            print(f"keepsake: the product's log is {LOG.relative_to(ROOT)}")
    return int(failed)


def _fuzz(origin: str, seconds: int, seed: int, callers: Mapping[str, str]) -> bool:
    """Run the fuzzer in a temporary folder, its progress on the console; return whether it failed."""
    command: list[str | Path] = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", CONFIG),
        *("run", ROOT / "docs/openapi.json", "--url", origin),
        *("--max-time", str(seconds), "--seed", str(seed)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(command, cwd=folder, env=build_environment(**callers), check=False)
    return process.returncode != 0


def list_untried(log: Iterable[str]) -> list[str]:
    """Return the routes that were asked a few times and answered 401 or 403 alone, as the product's log tells."""
    statuses = defaultdict[str, list[int]](list)
    for line in log:
        if line.startswith("{") and '"route": ' in line:
            answered = json.loads(line)
            statuses[answered["route"]].append(answered["status"])
    return sorted(
        route
        for route, seen in statuses.items()
        if len(seen) >= FEWEST_ASKED and {*seen} <= {401, 403}
    )


def _create_callers(origin: str) -> dict[str, str]:
    """Sign two users in, one with a library, an installed app with a key, and keys for programs."""
    with (
        _sign_in(origin, USER_ID) as user,
        _sign_in(origin, "leaver") as leaver,
        _sign_in(origin, "signed-out") as signed_out,
    ):
        for path, body in SAMPLE_BODIES.items():
            _create(user, path, {"id": "existing", **body})
        app = _create(user, "/v1/apps", APP)
        anothers_app = _create(signed_out, "/v1/apps", APP)
        for installed in (app, anothers_app):
            user.post("/v1/apps/enable", params={"app_id": installed["id"]}).raise_for_status()
        return {
            "USER": USER_ID,
            "USER_TOKEN": _read_token(user),
            "LEAVER_TOKEN": _read_token(leaver),
            "SIGNED_OUT_TOKEN": _read_token(signed_out),
            "APP_ID": app["id"],
            "ANOTHERS_APP_ID": anothers_app["id"],
            "APP_KEY": _create(user, f"/v1/apps/{app['id']}/keys", {})["secret"],
            "MCP_KEY": _create(user, "/v1/mcp/keys", {"name": "fuzz"})["key"],
            "DEVELOPER_KEY": _create(user, "/v1/dev/keys", DEVELOPER_KEY)["key"],
        }


@contextmanager
def _sign_in(origin: str, uid: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=origin, timeout=60, trust_env=False) as client:
        answer = client.post("/local/token", json={"uid": uid}, headers={HEADER: LOCAL_KEY})
        client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['token']}"
        yield client


def _read_token(client: httpx.Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


def _create(client: httpx.Client, path: str, body: Mapping[str, object]) -> dict[str, str]:
    return dict(client.post(path, json=body).raise_for_status().json())


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
