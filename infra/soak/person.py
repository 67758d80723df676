"""Person of the soak: asks, reads until the end over any number of broken connections, and records it."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from infra.bench.crowds import END_TYPES

RETRY_S = 0.25
MAX_EVENTS_BEFORE_CUT = 12
TOKEN_MS = 40


@dataclass(slots=True, kw_only=True)
class Question:
    """A question, and everything that its asker received of the answer."""

    key: str
    answer: str
    run_id: str = ""
    numbers: list[int] = field(default_factory=list)
    chunks: list[Mapping[str, Any]] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Ask the scripted model for a tool call and then for this answer."""
        call = {"id": "call_1", "name": "get_memories", "arguments": "{}"}
        script = [{"tool_calls": [call]}, {"text": self.answer, "token_ms": TOKEN_MS}]
        return f"Tell me {self.key}. [[script {json.dumps(script)}]]"

    def note_refusal(self, status: int) -> None:
        """Remember it; a run that is unknown was never stored, so that its question is asked again."""
        self.refusals.append(status)
        if status == httpx.codes.NOT_FOUND:
            self.numbers.clear()
            self.chunks.clear()

    @property
    def last_number(self) -> int:
        return self.numbers[-1] if self.numbers else 0

    @property
    def ends(self) -> Sequence[Mapping[str, Any]]:
        return [chunk for chunk in self.chunks if chunk["type"] in END_TYPES]

    @property
    def has_failed(self) -> bool:
        """Tell whether its asker was told that it failed: nothing of it need be stored then."""
        return any(end["type"] == "error" for end in self.ends)

    @property
    def received_text(self) -> str:
        return "".join(chunk["delta"] for chunk in self.chunks if chunk["type"] == "text-delta")


@dataclass(slots=True, kw_only=True)
class Person:
    """One user at several processes; `find_origin` chooses one for a path, each time another.

    What is stored of them must be what they know of: `erased_uids` are who they were before they erased that account,
    `ended_tokens` those of sessions that they ended.
    """

    name: str
    sign_in: Callable[[str], Awaitable[tuple[str, str]]]
    http: httpx.AsyncClient
    find_origin: Callable[[str], str]
    random: Random
    uid: str = ""
    token: str = ""
    question_count: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    questions: list[Question] = field(default_factory=list)
    conversation_ids: list[str] = field(default_factory=list)
    deleted_ids: set[str] = field(default_factory=set)
    friend_name: str = ""
    erased_uids: list[str] = field(default_factory=list)
    ended_tokens: list[str] = field(default_factory=list)

    async def enter(self) -> None:
        """Sign in, until the session is accepted."""
        while True:
            self.uid, self.token = await self.sign_in(f"{self.name}-{len(self.erased_uids)}")
            if (await self.send("GET", "/v1/users/people")).is_success:
                return
            await asyncio.sleep(RETRY_S)

    async def enter_again(self) -> None:
        """Begin another session in place of one that was ended."""
        self.ended_tokens.append(self.token)
        await self.enter()

    async def become_another(self) -> None:
        """Know nothing any more, under another name."""
        self.erased_uids.append(self.uid)
        self.questions, self.conversation_ids = [], []
        self.deleted_ids, self.friend_name = set(), ""
        await self.enter_again()

    async def find_open_sessions(self) -> Sequence[str]:
        """Return the tokens that let in though their session was ended."""
        tokens = {token: {"Authorization": f"Bearer {token}"} for token in self.ended_tokens}
        return [
            token
            for token, headers in tokens.items()
            if (await self.send("GET", "/v1/users/people", headers=headers)).is_success
        ]

    async def act(self) -> None:
        """Ask, and record a conversation."""
        key = f"{self.uid}-{len(self.questions)}"
        self.question_count += 1
        self.questions.append(Question(key=key, answer=self._choose_answer(key)))
        await self._ask(self.questions[-1])
        await self._record_conversation(key)

    def _choose_answer(self, key: str) -> str:
        words = [f"word{n}" for n in range(self.random.randrange(5, 60))]
        return " ".join([key, *words])

    async def _ask(self, question: Question) -> None:
        """Ask or resume until the end has come."""
        while not question.ends:
            limit = self.random.choice((None, self.random.randrange(1, MAX_EVENTS_BEFORE_CUT)))
            try:
                async with self._open_stream(question) as response:
                    if response.status_code == httpx.codes.OK:
                        question.run_id = response.headers["x-run-id"]
                        await _read(question, response.aiter_lines(), limit)
                        continue
                question.note_refusal(response.status_code)
                if response.status_code == httpx.codes.UNAUTHORIZED:
                    await self.enter()  # a clock that is ahead ended this session too
            except httpx.TransportError:
                pass
            await asyncio.sleep(RETRY_S)

    def _open_stream(self, question: Question) -> Any:
        """Resume what has begun, or send the question, again under the same key."""
        if question.numbers:
            path = f"/v2/messages/{question.run_id}/stream"
            after = {"Last-Event-ID": str(question.last_number)}
            return self.http.stream("GET", self._at(path), headers={**self._headers, **after})
        body = {"text": question.text, "client_message_id": question.key}
        path = "/v2/messages?protocol=ui-message-stream"
        return self.http.stream("POST", self._at(path), json=body, headers=self._headers)

    async def _record_conversation(self, name: str) -> None:
        """Post a conversation until it is accepted; a repeat has the same id."""
        self.conversation_ids.append(name)
        body = _build_conversation(name)
        (await self.send("POST", "/v1/conversations", json=body)).raise_for_status()

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Repeat a request until it is answered, and not by a fault or for being one too many."""
        while True:
            with suppress(httpx.TransportError):
                answer = await self.http.request(
                    method, self._at(path), json=json, headers=headers or self._headers
                )
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
            await asyncio.sleep(RETRY_S)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def _at(self, path: str) -> str:
        return self.find_origin(path) + path


async def _read(question: Question, lines: AsyncIterator[str], limit: int | None) -> None:
    """Record whole events; break off after `limit` of them."""
    count, chunks = 0, list[Mapping[str, Any]]()
    async for line in lines:
        if line.startswith("data: {"):
            chunks.append(json.loads(line[6:]))
        elif line.startswith("id: "):
            question.numbers.append(int(line[4:]))
            question.chunks += chunks
            count, chunks = count + 1, []
            if count == limit:
                return


def _build_conversation(name: str) -> dict[str, Any]:
    segment = {"speaker": "Ann", "is_user": False, "start": 0, "end": 4}
    return {
        "id": name,
        "started_at": "2026-03-02T09:00:00Z",
        "finished_at": "2026-03-02T09:05:00Z",
        "transcript_segments": [{"text": f"Ann sends plan {name} on Friday.", **segment}],
    }
