"""Providers of live speech on loopback: Deepgram's and OpenAI's sockets, as their references write them."""

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

KEY = "a-key-of-live-speech"


@dataclass
class FakeLiveSpeech:
    """Answers the end of a stream, or its first sound with `at_once`, with messages; records what came.

    Who brings another key is refused; with `breaks` the connection ends as a cut one does.
    """

    answers: list[dict[str, Any]] = field(default_factory=list)
    breaks: bool = False
    queries: list[dict[str, str]] = field(default_factory=list)
    texts: list[dict[str, Any]] = field(default_factory=list)
    sound: bytearray = field(default_factory=bytearray)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                WebSocketRoute("/v1/listen", self._serve_deepgram),
                WebSocketRoute("/v1/realtime", self._serve_openai),
            ]
        )

    async def _serve_deepgram(self, socket: WebSocket) -> None:
        if not await self._admit(socket, f"Token {KEY}"):
            return
        while (message := await socket.receive())["type"] == "websocket.receive":
            if sound := message.get("bytes"):
                self.sound += sound
                continue
            self.texts.append(json.loads(message["text"]))
            if self.texts[-1]["type"] == "CloseStream":
                await self._answer(socket)
                return

    async def _serve_openai(self, socket: WebSocket) -> None:
        if not await self._admit(socket, f"Bearer {KEY}"):
            return
        await socket.send_json({"type": "session.created"})
        while (message := await socket.receive())["type"] == "websocket.receive":
            self.texts.append(json.loads(message["text"]))
            if self.texts[-1]["type"] == "input_audio_buffer.commit":
                await self._answer(socket)
                return

    async def _admit(self, socket: WebSocket, authorization: str) -> bool:
        self.queries.append(dict(socket.query_params))
        if socket.headers.get("authorization") != authorization:
            await socket.send_denial_response(Response(status_code=401))
            return False
        await socket.accept()
        return True

    async def _answer(self, socket: WebSocket) -> None:
        for answer in self.answers:
            await socket.send_json(answer)
        await socket.close(1011 if self.breaks else 1000)
