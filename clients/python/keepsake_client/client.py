"""Client: one method a verb, and questions with their answers."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx

from keepsake_client.answer import Answer
from keepsake_client.problems import check


class Keepsake:
    """The API of one user. Values have the fields of `keepsake_client.types`.

    ```python
    with Keepsake("http://127.0.0.1:8080", token) as keepsake:
        for event in keepsake.ask("When is the offsite?"):
            print(event)
    ```
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 60,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout_s)
        self._sleep = sleep

    @classmethod
    def sign_in_locally(cls, url: str, uid: str, key: str, **options: Any) -> Self:
        """Sign in at a server on this machine with its local key. Raises RequestFailed."""
        answer = httpx.post(f"{url}/local/token", json={"uid": uid}, headers={"X-Local-Key": key})
        check(answer)
        return cls(url, answer.json()["token"], **options)

    def get(self, path: str, **query: Any) -> Any:
        """Return what the server answers, parsed. Raises RequestFailed and httpx.TransportError."""
        return self._send("GET", path, params=query)

    def post(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """Send a body; the rest is as in `get`."""
        return self._send("POST", path, json=body, params=query)

    def put(self, path: str, body: Mapping[str, Any], **query: Any) -> Any:
        """Replace; the rest is as in `get`."""
        return self._send("PUT", path, json=body, params=query)

    def patch(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """Change the named fields; the rest is as in `get`."""
        return self._send("PATCH", path, json=body, params=query)

    def delete(self, path: str, **query: Any) -> Any:
        """Delete; the rest is as in `get`."""
        return self._send("DELETE", path, params=query)

    def ask(self, text: str, *, chat: str | None = None, key: str | None = None) -> Answer:
        """Ask a question in a chat, the main one without `chat`.

        Iterate over the answer to read its events. A question with the same `key` is asked once.
        """
        return Answer(self._http, text, chat=chat, key=key or str(uuid4()), sleep=self._sleep)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, method: str, path: str, **request: Any) -> Any:
        answer = self._http.request(method, path, **request)
        check(answer)
        return answer.json() if answer.content else None
