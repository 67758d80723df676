"""Keys on Cloud KMS: the key never leaves it, and its audit log shows each use.

Also called: key management.
"""

from functools import cached_property
from typing import Any

from shared.adapters.cloud.grpc_cancellation import keep_cancellation
from shared.domain.errors import CannotUnwrap, Unavailable

TIMEOUT_S = 10.0
_DESTROYED = "current state is: DESTROYED"
"""In the refusal (FAILED_PRECONDITION) of a version that never comes back; a disabled one may."""


class KmsKeys:
    """Wraps with one symmetric key: `projects/…/locations/…/keyRings/…/cryptoKeys/…`.

    `address` is a local server, reached without TLS.
    """

    def __init__(self, key: str, *, address: str | None = None) -> None:
        self._key = key
        self._address = address

    async def wrap(self, secret: bytes, *, bound_to: str) -> bytes:
        return bytes((await self._call("encrypt", bound_to, plaintext=secret)).ciphertext)

    async def unwrap(self, wrapped: bytes, *, bound_to: str) -> bytes:
        from google.api_core.exceptions import InvalidArgument

        try:
            return bytes((await self._call("decrypt", bound_to, ciphertext=wrapped)).plaintext)
        except InvalidArgument as error:
            raise CannotUnwrap("This was not wrapped here, or not for this") from error
        except Unavailable as error:
            if _DESTROYED in str(error.__cause__):
                raise CannotUnwrap("The key that wrapped this was destroyed") from error
            raise

    async def _call(self, method: str, bound_to: str, **content: bytes) -> Any:
        from google.api_core.exceptions import GoogleAPIError, InvalidArgument
        from google.auth.exceptions import GoogleAuthError

        associated = {"additional_authenticated_data": bound_to.encode()}
        request = {"name": self._key, **associated, **content}
        try:
            async with keep_cancellation():
                return await getattr(self._client, method)(request=request, timeout=TIMEOUT_S)
        except InvalidArgument:
            raise
        except (GoogleAPIError, GoogleAuthError) as error:
            raise Unavailable("Cloud KMS does not answer") from error

    @cached_property
    def _client(self) -> Any:
        from google.cloud.kms_v1 import KeyManagementServiceAsyncClient

        if self._address is None:
            return KeyManagementServiceAsyncClient()
        from grpc.aio import insecure_channel

        transport: Any = KeyManagementServiceAsyncClient.get_transport_class("grpc_asyncio")
        channel = insecure_channel(self._address)
        return KeyManagementServiceAsyncClient(transport=transport(channel=channel))
