"""Local key: the secret of a server's own account, sent to `POST /local/token` as X-Local-Key."""

import hmac
import re
import secrets

from infra.local.attempts import AttemptLimits
from shared.adapters.embedded.data_folder import read_or_create
from shared.domain.errors import NotAuthenticated
from shared.domain.value import value
from shared.settings import Settings, SettingsError

HEADER = "X-Local-Key"
FILE = "local_key"


@value
class LocalKey:
    """The secret of a server, and where a person finds it."""

    secret: str
    place: str


def open_local_key(settings: Settings) -> LocalKey:
    """Return the key of a server; its first start makes one. Raises SettingsError, OSError."""
    if settings.local_key:
        place = "the LOCAL_KEY with which the server was started"
        return LocalKey(secret=settings.local_key, place=place)
    path = settings.data_dir / FILE
    content = read_or_create(path, lambda: secrets.token_urlsafe(32).encode())
    secret = content.decode(errors="replace").strip()
    if not re.fullmatch("[!-~]+", secret):
        raise SettingsError(f"{path} holds no key: delete it, and the next start makes a new one")
    return LocalKey(secret=secret, place=f"the content of {path.resolve()}")


def build_key_header(settings: Settings) -> dict[str, str]:
    """Build the header with which a command of this account signs in.

    Without a key it is empty, and the server's refusal says where the key is.
    """
    secret = settings.local_key or _read_key_file(settings)
    return {HEADER: secret} if secret else {}


def _read_key_file(settings: Settings) -> str:
    try:
        return (settings.data_dir / FILE).read_text().strip()
    except OSError:
        return ""


class LocalKeyCheck:
    """Admits those who know the key; where others reach the server, with limited attempts.

    LOCAL_KEY may be short; a key that was made has 256 bits, which nobody guesses.
    """

    def __init__(self, key: LocalKey, limits: AttemptLimits | None = None) -> None:
        self._key = key
        self._limits = limits

    def check(self, given: str, address: str) -> None:
        """Raises NotAuthenticated, and TooMany before it looks at the key."""
        if self._limits:
            self._limits.check(address)
        if not hmac.compare_digest(given.encode(), self._key.secret.encode()):
            raise NotAuthenticated(
                f"The local key is missing or wrong. It is {self._key.place}; programs send it in the "
                f"header {HEADER}."
            )
