"""Phone: one user of the released app, and how that app sends its calls."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.contracts.omi_client.objects import CONVERSATION
from tests.contracts.omi_client.readers import Reader, anything
from tests.e2e.product import wait_for_processing
from tests.local_key import KEY_HEADER

WORDS = "We meet on Friday at ten, and Ann brings the plans for the Lisbon offsite. " * 3


@dataclass(frozen=True, slots=True)
class Phone:
    """A signed-in phone. Calls take the values as they stand, and most read nothing but a 200."""

    uid: str
    http: httpx.Client

    def get(self, path: str, reader: Reader = anything, **query: Any) -> Any:
        """Read the JSON of a 200."""
        return self.send("GET", path, reader, params=query)

    def send(
        self,
        method: str,
        path: str,
        reader: Reader = anything,
        *,
        status: int = 200,
        **request: Any,
    ) -> Any:
        """Send a call that must be answered with this status, and read its JSON; None without a body.

        `request` is what httpx takes: `params`, `json`, `data`, `files`.
        """
        answer = self.http.request(method, path, **request)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return reader(answer.json()) if answer.content else None

    def refuse(self, method: str, path: str, **request: Any) -> tuple[int, str]:
        """Send a call that must be refused; return the status and the text that the app may show."""
        answer = self.http.request(method, path, **request)
        assert answer.status_code >= 400, f"{method} {path}: {answer.status_code}"
        detail = answer.json()["detail"]
        assert isinstance(detail, str)
        return answer.status_code, detail

    def add_conversation(self, **fields: Any) -> dict[str, Any]:
        """Hand in a conversation, wait until it is processed, and read it."""
        body = {
            "started_at": "2026-03-02T09:00:00Z",
            "finished_at": "2026-03-02T09:05:00Z",
            "source": "phone",
            "transcript_segments": [
                {"text": WORDS, "speaker": "SPEAKER_00", "is_user": True, "start": 0.0, "end": 9.5}
            ],
            **fields,
        }
        answer = self.http.post("/v1/conversations", json=body)
        assert answer.status_code in (200, 201, 202), answer.text
        conversation: dict[str, Any] = CONVERSATION(
            wait_for_processing(self.http, answer.json()["id"])
        )
        return conversation


def sign_in(http: httpx.Client, uid: str) -> Phone:
    """Sign in on a client of the product, which then sends what the app sends with each call."""
    answer = http.post("/local/token", json={"uid": uid}, headers=KEY_HEADER)
    http.headers.update(
        {
            "Authorization": f"Bearer {answer.raise_for_status().json()['token']}",
            "X-App-Platform": "ios",
            "X-App-Version": "1.0.530",
            "X-Device-Id-Hash": "abcd1234",
        }
    )
    return Phone(uid=uid, http=http)
