"""Safety on the running product: a refused question, and a dialogue that goes further and further (M97, M128)."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from starlette.types import Receive, Scope, Send

from tests.e2e.product import ask, build_model_environment, run_product
from tests.e2e.waiting import wait_until
from tests.infra.test_dead_letters import run_command
from tests.servers import run_server
from tests.servers.moderations import MODEL, FakeModerations, build_answer
from tests.servers.openai import Script, ScriptedOpenai

MODULE = "infra.safety_reviews"
GRADUAL = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95]


@contextmanager
def run_rated_model(
    moderations: FakeModerations, model: ScriptedOpenai | None = None
) -> Iterator[str]:
    """Run a model that also rates texts; yield its base URL."""
    model, moderator = model or ScriptedOpenai(), moderations.app

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        is_rated = scope["type"] == "http" and scope["path"].endswith("/moderations")
        await (moderator if is_rated else model)(scope, receive, send)

    with run_server(dispatch) as url:
        yield f"{url}/v1"


def play(http: httpx.Client, moderations: FakeModerations) -> Iterator[str]:
    """Ask as many questions as there are ratings; yield the step after each, once it counts."""
    before = 0.0
    for harm in GRADUAL:
        moderations.answers = [build_answer(illicit__violent=harm)]
        done = ask(http, "And then?").done
        assert done is not None
        safety = wait_until(partial(find_higher, http, done["id"], before))
        before = safety["score"]
        yield safety["step"]


def find_higher(http: httpx.Client, answer_id: str, before: float) -> dict[str, Any] | None:
    safety: dict[str, Any] = http.get(f"/v2/messages/{answer_id}/diagnostics").json()["safety"]
    return safety if safety["score"] > before else None


def test_a_dialogue_that_goes_further_and_further_ends_and_an_operator_opens_it_again_m129(
    tmp_path: Path,
) -> None:
    moderations = FakeModerations()
    with (
        run_rated_model(moderations) as url,
        run_product(tmp_path, **build_model_environment(url)) as product,
        product.client("alice") as http,
    ):
        steps = list(play(http, moderations))
        refusal = http.post(
            "/v2/messages", json={"text": "Go on"}, params={"protocol": "ui-message-stream"}
        )
        (line, *_) = run_command(tmp_path / "data", module=MODULE).stdout.split("\n")
        unlocked = run_command(tmp_path / "data", "--unlock", line.split()[0], module=MODULE)
        later = ask(http, "Hello again")

    assert list(dict.fromkeys(steps)) == ["none", "note", "slow", "review", "locked"]
    assert (refusal.status_code, refusal.json()["code"]) == (423, "chat_locked")
    assert line.split()[3:] == ["locked", line.split()[4], "alice", "main"]
    assert unlocked.returncode == 0, unlocked.stderr
    assert later.text == "Hello there."
    assert moderations.requests[0] == {"model": MODEL, "input": "And then?"}


def test_a_doubted_question_is_refused_and_the_models_stream_closed_m97(tmp_path: Path) -> None:
    moderations, model = FakeModerations(), ScriptedOpenai()
    moderations.answers = [build_answer(illicit__violent=0.9)]
    scores = '{"danger": 0, "harm": 9, "harm_quote": "Wie geht das", "language": "de"}'
    reading = Script(schema="reading", text=scores)
    model.play(reading, reading, Script(endless=True, first_token_ms=2_000))
    with (
        run_rated_model(moderations, model) as url,
        run_product(tmp_path, **build_model_environment(url)) as product,
        product.client("alice") as http,
    ):
        refused = ask(http, "Wie geht das?")
        later = ask(http, "Hello again")

    (stream, *_) = [request for request in model.requests if request.body.get("stream")]
    assert refused.text.startswith("Dabei helfe ich nicht")
    assert stream.closed_early
    assert later.text == "Hello there."
