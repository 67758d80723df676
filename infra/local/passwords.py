"""Passwords of a self-hosted server: slow hashes, and the check that signs people in."""

import secrets
import unicodedata

import anyio
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from infra.local.attempts import AttemptLimits
from shared.adapters.embedded.password_file import PasswordFile
from shared.domain.errors import Invalid, NotAuthenticated
from shared.ports import Clock
from shared.settings import Settings, SettingsError

MIN_CHARS = 10
MAX_CHARS = 128
MAX_CONCURRENT_CHECKS = 2
"""A check takes 64 MiB and a core for some 50 ms."""

_HASHER = PasswordHasher()
"""Argon2id with the parameters of RFC 9106 for little memory."""


def hash_password(password: str) -> str:
    """Raises Invalid for a password that is too short or too long."""
    if not MIN_CHARS <= len(password) <= MAX_CHARS:
        raise Invalid(f"A password has {MIN_CHARS} to {MAX_CHARS} characters.")
    return _HASHER.hash(_normalise(password))


def is_password(password_hash: str, password: str) -> bool:
    try:
        return _HASHER.verify(password_hash, _normalise(password))
    except VerificationError:
        return False


def generate_password() -> str:
    return secrets.token_urlsafe(15)


def prepare_accounts(settings: Settings, file: PasswordFile, clock: Clock) -> str | None:
    """Store the password of the settings; without any account, make one for KEEPSAKE_USER.

    Returns the password that was made, which is stored nowhere. Raises SettingsError, OSError.
    """
    given = settings.password or _read_password(settings)
    if given is None and file.list_names():
        return None
    password = given or generate_password()
    stored = file.find_hash(settings.user)
    if stored is None or not is_password(stored, password):
        try:
            file.store(settings.user, hash_password(password), now=clock.now())
        except Invalid as error:
            raise SettingsError(f"KEEPSAKE_PASSWORD: {error}") from error
    return None if given else password


def _read_password(settings: Settings) -> str | None:
    if settings.password_file is None:
        return None
    try:
        password = settings.password_file.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"PASSWORD_FILE={settings.password_file}: {error}") from error
    if not password:
        raise SettingsError(f"PASSWORD_FILE={settings.password_file} is empty: write a password")
    return password


def _normalise(password: str) -> str:
    """Return the same password for the same signs, however a keyboard composes them."""
    return unicodedata.normalize("NFC", password)


class PasswordCheck:
    """Admits who knows the password of an account; guesses are limited."""

    def __init__(self, file: PasswordFile, limits: AttemptLimits) -> None:
        self._file = file
        self._limits = limits
        self._nobody = _HASHER.hash(secrets.token_urlsafe())
        self._concurrent = anyio.CapacityLimiter(MAX_CONCURRENT_CHECKS)

    async def check(self, name: str, password: str, address: str) -> None:
        """Raises NotAuthenticated, and TooMany before it looks at the password.

        An unknown name takes as long as a wrong password.
        """
        self._limits.check(address)
        stored = self._file.find_hash(name)
        matches = await anyio.to_thread.run_sync(
            is_password, stored or self._nobody, password, limiter=self._concurrent
        )
        if not (matches and stored):
            raise NotAuthenticated("The name or the password is wrong.")
