"""A device with sealed chats: it keeps keys and messages, and gives the server ciphertexts alone."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx

from examples.private_chat.encryption import NotOurs, Place, create_key, decrypt, encrypt

UI = {"protocol": "ui-message-stream"}
HISTORY_REQUEST = "data-request-chat-history"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMessage:
    """A message in clear, as a device keeps it."""

    id: str
    sender: str
    text: str
    created_at: str
    version: int = 1


@dataclass(slots=True, kw_only=True)
class KeptChat:
    """A chat on a device; `version` is that of its title."""

    id: str
    title: str = ""
    version: int = 0
    messages: dict[str, KeptMessage] = field(default_factory=dict)

    def list_messages(self) -> list[KeptMessage]:
        return sorted(self.messages.values(), key=lambda message: message.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, and why the server asked for the messages before it, if it did."""

    text: str
    reason: str | None = None


class Device:
    """A device of one user. `keys` are those of chats; how devices share them is their own affair."""

    def __init__(self, http: httpx.Client, uid: str, keys: dict[str, bytes] | None = None) -> None:
        self.keys = keys if keys is not None else {}
        self.chats: dict[str, KeptChat] = {}
        self._http = http
        self._uid = uid
        self._cursor: str | None = None

    def begin(self, title: str) -> KeptChat:
        """Begin a chat, whose title only devices can read."""
        body = {"storage_mode": "client_encrypted"}
        created = self._send("POST", "/v2/chat-sessions", json=body).json()
        chat = self.chats[created["id"]] = KeptChat(id=created["id"], title=title)
        self.keys[chat.id] = create_key()
        chat.version += 1
        title_json = json.dumps({"title": title})
        ciphertext = encrypt(self.keys[chat.id], title_json, self._locate(chat.version, chat.id))
        self._put(chat.id, chat={"version": chat.version, "ciphertext": ciphertext})
        return chat

    def ask(self, chat: KeptChat, text: str) -> Answer:
        """Ask, send the chat's messages where the server lacks them, and store what came."""
        question = {"text": text, "client_message_id": str(uuid.uuid4())}
        params = {"chat_session_id": chat.id, **UI}
        response = self._send("POST", "/v2/messages", json=question, params=params)
        chunks = list(_iterate_chunks(response))
        reason = next((c["data"]["reason"] for c in chunks if c["type"] == HISTORY_REQUEST), None)
        if reason is not None:
            chunks = self._resend(chat, response.headers["X-Run-Id"], question)
        message = next(chunk["data"] for chunk in chunks if chunk["type"] == "data-message")
        self._keep_turn(chat, text, message)
        return Answer(text=message["text"], reason=reason)

    def _resend(
        self, chat: KeptChat, run_id: str, question: dict[str, str]
    ) -> list[dict[str, Any]]:
        messages = [
            {"id": m.id, "sender": m.sender, "text": m.text, "created_at": m.created_at}
            for m in chat.list_messages()
        ]
        body = {"question": question, "messages": messages}
        return list(_iterate_chunks(self._send("POST", f"/v2/messages/{run_id}/resend", json=body)))

    def _keep_turn(self, chat: KeptChat, text: str, message: dict[str, Any]) -> None:
        """Keep a question, which comes just before its answer, and store both."""
        answered_at = datetime.fromisoformat(message["created_at"])
        question = KeptMessage(
            id=f"{message['id']}-q",
            sender="human",
            text=text,
            created_at=(answered_at - timedelta(milliseconds=1)).isoformat(),
        )
        answer = KeptMessage(
            id=message["id"],
            sender="ai",
            text=message["text"],
            created_at=answered_at.isoformat(),
        )
        chat.messages |= {question.id: question, answer.id: answer}
        self._put(chat.id, messages=[self._encrypt(chat, kept) for kept in (question, answer)])

    def _encrypt(self, chat: KeptChat, message: KeptMessage) -> dict[str, Any]:
        text = json.dumps({"sender": message.sender, "text": message.text})
        place = self._locate(message.version, chat.id, message.id)
        return {
            "id": message.id,
            "created_at": message.created_at,
            "version": message.version,
            "ciphertext": encrypt(self.keys[chat.id], text, place),
        }

    def sync(self) -> None:
        """Read what other devices stored, phase by phase, and what changed since the last time."""
        for phase in (1, 2, 3):
            cursor = self._cursor if phase == 3 else None
            for page in self._iterate_pages(phase, cursor):
                for synced in page["chats"]:
                    self._merge(synced["chat"], synced["messages"])
                cursor = page["cursor"]
        self._cursor = cursor
        self._send("POST", "/v2/sync/ack", json={"phase": 3})

    def _iterate_pages(self, phase: int, cursor: str | None) -> Iterator[dict[str, Any]]:
        while True:
            params = {"phase": phase, **({"cursor": cursor} if cursor else {})}
            page = self._send("GET", "/v2/sync", params=params).json()
            yield page
            if page["is_complete"]:
                return
            cursor = page["cursor"]

    def _merge(self, stored: dict[str, Any], messages: list[dict[str, Any]]) -> None:
        """Keep of a chat what is newer than what is here; what does not decrypt stays away."""
        if stored["is_deleted"]:
            self.chats.pop(stored["id"], None)
            return
        key = self.keys.get(stored["id"])
        if key is None:
            return
        chat = self.chats.setdefault(stored["id"], KeptChat(id=stored["id"]))
        if stored["version"] > chat.version:
            place = self._locate(stored["version"], chat.id)
            title = self._decrypt(key, stored["ciphertext"], place)
            chat.version = stored["version"]
            chat.title = title["title"] if title else chat.title
        for message in messages:
            self._merge_message(chat, key, message)

    def _merge_message(self, chat: KeptChat, key: bytes, stored: dict[str, Any]) -> None:
        known = chat.messages.get(stored["id"])
        if known is not None and known.version >= stored["version"]:
            return
        if stored["ciphertext"] is None:
            chat.messages.pop(stored["id"], None)
            return
        place = self._locate(stored["version"], chat.id, stored["id"])
        content = self._decrypt(key, stored["ciphertext"], place)
        if content is not None:
            chat.messages[stored["id"]] = KeptMessage(
                id=stored["id"],
                sender=content["sender"],
                text=content["text"],
                created_at=datetime.fromisoformat(stored["created_at"]).isoformat(),
                version=stored["version"],
            )

    def _decrypt(self, key: bytes, ciphertext: str, place: Place) -> dict[str, str] | None:
        try:
            content: dict[str, str] = json.loads(decrypt(key, ciphertext, place))
        except NotOurs:
            return None
        return content

    def forget_at_the_server(self) -> None:
        """Let the server forget every word of sealed chats."""
        self._send("DELETE", "/v2/sealed-cache")

    def _put(self, chat_id: str, **body: Any) -> None:
        self._send("PUT", f"/v2/chat-sessions/{chat_id}/ciphertexts", json=body)

    def _locate(self, version: int, chat_id: str, message_id: str = "") -> Place:
        return Place(uid=self._uid, chat_id=chat_id, message_id=message_id, version=version)

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self._http.request(method, path, **request).raise_for_status()


def _iterate_chunks(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.text.splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))
