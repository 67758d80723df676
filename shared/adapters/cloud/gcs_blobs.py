"""Blobs in a bucket of Cloud Storage, over its JSON API.

Also called: object storage, blob storage.
"""

from collections.abc import AsyncIterator, Sequence
from functools import cached_property, partial
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
import httpx

from shared.adapters.blob_rules import check_path, check_size
from shared.adapters.trust_store import load_trust_store
from shared.domain.errors import NotFound, Unavailable

GOOGLE_URL = "https://storage.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
MAX_DELETIONS_AT_ONCE = 10
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class GcsBlobs:
    """Files of one bucket; the client is built on first use.

    `address` is a local server, which is sent no token.
    """

    def __init__(self, bucket: str, *, address: str | None = None) -> None:
        self._bucket = bucket
        self._address = address

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        check_path(path)
        check_size(content)
        response = await self._send(
            "POST",
            f"/upload/storage/v1/b/{self._bucket}/o",
            params={"uploadType": "media", "name": path},
            content=content,
            headers={"Content-Type": media_type},
        )
        _check(response)

    async def read(self, path: str) -> bytes:
        check_path(path)
        response = await self._send("GET", self._build_url(path), params={"alt": "media"})
        if response.status_code == httpx.codes.NOT_FOUND:
            raise NotFound("There is no such file")
        return _check(response).content

    async def delete(self, paths: Sequence[str]) -> None:
        for path in paths:
            check_path(path)
        limiter = anyio.CapacityLimiter(MAX_DELETIONS_AT_ONCE)
        try:
            async with anyio.create_task_group() as group:
                for path in paths:
                    group.start_soon(self._delete_one, path, limiter)
        except* Unavailable as errors:
            raise Unavailable("Files could not be deleted") from errors

    async def delete_tree(self, prefix: str) -> None:
        check_path(prefix)
        async for names in self._iterate_names(prefix):
            await self.delete(names)

    async def _iterate_names(self, prefix: str) -> AsyncIterator[list[str]]:
        """Yield the names below a prefix, a page at a time."""
        params = {"prefix": f"{prefix}/", "fields": "items(name),nextPageToken"}
        while True:
            page = _check(
                await self._send("GET", f"/storage/v1/b/{self._bucket}/o", params=params)
            ).json()
            yield [item["name"] for item in page.get("items", ())]
            if "nextPageToken" not in page:
                return
            params["pageToken"] = page["nextPageToken"]

    async def _delete_one(self, path: str, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            response = await self._send("DELETE", self._build_url(path))
        if response.status_code != httpx.codes.NOT_FOUND:
            _check(response)

    def _build_url(self, path: str) -> str:
        return f"/storage/v1/b/{self._bucket}/o/{quote(path, safe='')}"

    async def _send(
        self, method: str, url: str, *, headers: dict[str, str] | None = None, **content: Any
    ) -> httpx.Response:
        token = await self._get_token()
        try:
            return await self._client.request(
                method, url, headers={**(headers or {}), **token}, **content
            )
        except httpx.HTTPError as error:
            raise Unavailable(f"no connection to storage: {type(error).__name__}") from None

    async def _get_token(self) -> dict[str, str]:
        if self._address is not None:
            return {}
        token = await anyio.to_thread.run_sync(self._fetch_token)
        return {"Authorization": f"Bearer {token}"}

    def _fetch_token(self) -> str:
        from google.auth.exceptions import GoogleAuthError

        try:
            if not self._credentials.valid:
                self._credentials.refresh(self._token_request)
        except GoogleAuthError as error:
            raise Unavailable("No token for storage is available") from error
        return str(self._credentials.token)

    @cached_property
    def _credentials(self) -> Any:
        import google.auth

        credentials, _ = google.auth.default(scopes=[SCOPE])
        return credentials

    @cached_property
    def _token_request(self) -> Any:
        from google.auth.transport.requests import Request

        return partial(Request(), timeout=10.0)

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=load_trust_store(), base_url=self._address or GOOGLE_URL, timeout=_TIMEOUT
        )

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.aclose()


def _check(response: httpx.Response) -> httpx.Response:
    """Return a good answer. Raises Unavailable for any other: paths and sizes were checked."""
    if not response.is_success:
        raise Unavailable(f"storage answers {response.status_code}")
    return response
