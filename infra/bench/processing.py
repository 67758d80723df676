"""How fast conversations are imported, and what processing one asks of the store and the model."""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import Served, keepsake, keepsake_on, scripted_model
from infra.bench.sessions import sessions
from infra.progress import draw

SESSIONS = 1_000
ASKED = 20
AT_ONCE = 8
MOST_S = 300
POLL_S = 0.25
FUNCTION = "process_conversation"
ANSWERS = {
    "structure": {"title": "An evening", "overview": "They met.", "action_items": []},
    "memories": {"memories": []},
}


async def processing() -> list[Figure]:
    with tempfile.TemporaryDirectory() as data, keepsake_on(Path(data)) as server:
        took_s = await _import(server, list(sessions(SESSIONS)))
        lines = _completed(server)
        figures = [
            Figure(
                name=f"import of {SESSIONS} sessions, first POST to all completed",
                value=SESSIONS / took_s,
                unit="sessions/s",
                wanted=50,
                bound="at least",
            ),
            Figure(name="CPU of it", value=server.cpu_s / SESSIONS * 1000, unit="ms/session"),
            Figure(name="documents read to process one", value=mean(n["reads"] for n in lines)),
            Figure(name="documents written to process one", value=mean(n["writes"] for n in lines)),
        ]
    return [*figures, *await _model_calls()]


async def _model_calls() -> list[Figure]:
    with scripted_model() as model, keepsake(model) as server:
        scripts = [
            {"schema": schema, "text": json.dumps(answer), "sticky": True}
            for schema, answer in ANSWERS.items()
        ]
        await request(model.port, "POST", "/script", scripts)
        told = list(sessions(ASKED))
        await _import(server, told)
        asked = json.loads((await request(model.port, "GET", "/requests")).body)
    prompts = [json.dumps(each["body"]["messages"], ensure_ascii=False) for each in asked]
    ends = [session["transcript_segments"][-1]["text"] for session in told]
    sent = sum(prompt.count(end) for prompt in prompts for end in ends)
    characters = sum(map(len, prompts))
    return [
        Figure(name="model calls to process one", value=len(asked) / ASKED, wanted=2),
        Figure(name="times its transcript is sent", value=sent / ASKED, wanted=2),
        Figure(name="tokens sent, at 4 characters each", value=characters / 4 / ASKED),
    ]


async def _import(server: Served, told: list[dict[str, Any]]) -> float:
    """Post everything, wait until all is completed, and return the seconds from the first POST."""
    token = await sign_in(server.port, "alice")
    waiting = iter(told)
    started = time.perf_counter()
    await asyncio.gather(*(_post(server, waiting, token) for _ in range(AT_ONCE)))
    async with asyncio.timeout(MOST_S):
        while (done := len(_completed(server))) < len(told):
            draw("sessions", done, len(told))
            await asyncio.sleep(POLL_S)
    draw("sessions", done, len(told))
    return time.perf_counter() - started


async def _post(server: Served, told: Iterable[Mapping[str, Any]], token: str) -> None:
    for session in told:
        answer = await request(server.port, "POST", "/v1/conversations", session, token=token)
        if answer.status != 202:
            raise RuntimeError(f"{answer.status}: {answer.body[:500]!r}")


def _completed(server: Served) -> list[dict[str, Any]]:
    """Return the canonical lines of what was processed so far. Raises RuntimeError for a failure."""
    text = server.log.read_text().splitlines()
    ours = f'"function": "{FUNCTION}"'
    lines = [json.loads(line) for line in text if ours in line and line.endswith("}")]
    if failed := [line for line in lines if line["outcome"] == "failed"]:
        raise RuntimeError(f"{len(failed)} sessions could not be processed")
    return [line for line in lines if line["outcome"] == "ok"]
