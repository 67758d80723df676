"""ServiceIdentity of the embedded world: tokens signed by a secret of the data directory."""

from datetime import UTC, datetime, timedelta

from itsdangerous import BadData, URLSafeSerializer

from shared.domain.apps.service_calls import ServiceCalls, Via
from shared.domain.errors import NotAuthenticated
from shared.ports import Clock
from shared.security.service_claims import INVALID_TOKEN, ServiceClaims, check_claims

LIFETIME = timedelta(hours=1)


class LocalServiceIdentity:
    """Functions of the embedded world. Their tokens make the claims that Google's make."""

    def __init__(self, secret: bytes, calls: ServiceCalls, clock: Clock) -> None:
        self._serializer = URLSafeSerializer(secret, salt="service call")
        self._calls = calls
        self._clock = clock

    async def get_token(self, caller: str, audience: str) -> str:
        account = self._calls.get_account(caller, audience)
        return self.issue_token(account, audience, expires_at=self._clock.now() + LIFETIME)

    async def get_delivery_token(self, via: Via, function: str) -> str:
        """Return the token of a delivery, as the platform that carries it makes one."""
        return await self.get_token(self._calls.find_caller(function, via), function)

    def issue_token(self, account: str, audience: str, *, expires_at: datetime) -> str:
        """Issue a token, whether or not `account` may call `audience`."""
        return str(self._serializer.dumps([account, audience, expires_at.timestamp()]))

    async def verify(self, token: str, audience: str) -> None:
        check_claims(
            self._decode(token),
            audience=audience,
            accounts=self._calls.list_accounts(audience),
            now=self._clock.now(),
        )

    def _decode(self, token: str) -> ServiceClaims:
        try:
            account, audience, expires_at = self._serializer.loads(token)
        except BadData as error:
            raise NotAuthenticated(INVALID_TOKEN) from error
        expiry = datetime.fromtimestamp(expires_at, UTC)
        return ServiceClaims(audience=audience, account=account, expires_at=expiry)
