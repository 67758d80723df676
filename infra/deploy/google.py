"""Google's APIs of one project, asked by whoever is signed in."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

URL = "https://{service}.googleapis.com"
"""Where a service answers; tests name a server of this machine."""
TIMEOUT_S = 30.0


class Google:
    """Asks services by their names; `project` pays for the requests where whoever is signed in does not."""

    def __init__(self, project: str, http: httpx.Client, *, url: str) -> None:
        self.project = project
        self._http = http
        self._url = url

    def get(self, service: str, path: str, **query: str) -> httpx.Response:
        """Raises httpx.TransportError."""
        return self._http.get(f"{self._url.format(service=service)}/{path}", params=query)

    def post(self, service: str, path: str, body: Any = None) -> httpx.Response:
        """Raises httpx.TransportError."""
        return self._http.post(f"{self._url.format(service=service)}/{path}", json=body or {})

    def find_refused(self, service: str, path: str, permissions: tuple[str, ...]) -> list[str]:
        """Return those of the permissions that are not granted on a resource. Raises httpx.HTTPError."""
        answer = self.post(service, f"{path}:testIamPermissions", {"permissions": permissions})
        granted = answer.raise_for_status().json().get("permissions", [])
        return [name for name in permissions if name not in granted]


@contextmanager
def open_google(project: str, token: str, *, url: str = URL) -> Iterator[Google]:
    headers = {"Authorization": f"Bearer {token}", "X-Goog-User-Project": project}
    with httpx.Client(headers=headers, timeout=TIMEOUT_S) as http:
        yield Google(project, http, url=url)


def read_token() -> str:
    command = ["gcloud", "auth", "print-access-token"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
