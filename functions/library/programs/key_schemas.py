"""Schemas of API keys, which their owner creates and lists."""

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field, StringConstraints

from shared.domain.account.api_key import READ_SCOPES, DeveloperScope, KeyScope
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Utc

MAX_SCOPES = 20


def _default_scopes(scopes: list[DeveloperScope] | None) -> list[DeveloperScope]:
    return list(dict.fromkeys(scopes)) if scopes else list(READ_SCOPES)


class KeyIn(Wire):
    """A new key, named after the program that will use it."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    expires_in_days: Annotated[int, Field(ge=1, le=366)] = 365


class McpKeyIn(KeyIn):
    scope: KeyScope = "write"


class DeveloperKeyIn(KeyIn):
    """Without scopes, a key reads everything and writes nothing."""

    scopes: Annotated[
        list[DeveloperScope] | None, Field(max_length=MAX_SCOPES), AfterValidator(_default_scopes)
    ] = Field(default=None, validate_default=True)


class KeyOut(Wire):
    """A key without its secret; `key_prefix` is what people recognise it by."""

    id: str
    name: str
    key_prefix: Annotated[str, Field(validation_alias=AliasChoices("label", "key_prefix"))]
    created_at: Utc
    last_used_at: Utc | None
    expires_at: Utc | None


class McpKeyOut(KeyOut):
    scope: KeyScope


class NewMcpKeyOut(McpKeyOut):
    """A new key; `key` is shown only once."""

    key: str


class DeveloperKeyOut(KeyOut):
    scopes: list[DeveloperScope]


class NewDeveloperKeyOut(DeveloperKeyOut):
    """A new key; `key` is shown only once."""

    key: str
