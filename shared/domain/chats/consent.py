"""Consent to tools: what the owner decided about each tool of an app or a service.

Also called: permissions.
"""

from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from typing import Literal

from shared.domain.provenance import Source
from shared.domain.value import value

GrantState = Literal["default", "always", "off"]
"""`default`: by the tool's class; `always`: runs without a question; `off`: is not offered."""

Standing = Literal["known", "new", "changed"]
"""Whether the owner saw a tool as it is now: `new` was added, `changed` is not as it was."""


@value
class Grant:
    """The owner's decision about one tool; `pin` is the hash of the tool as they saw it."""

    pin: str
    state: GrantState = "default"


_MAX_KEY_BYTES = 64

GrantsByTool = Mapping[str, Grant]
"""The grants of one source, by the keys of their tools."""


def build_tool_key(name: str) -> str:
    """Return the name of a tool, or a hash of a long one: a few thousand fill a document."""
    encoded = name.encode()
    return name if len(encoded) <= _MAX_KEY_BYTES else f"sha256 {sha256(encoded).hexdigest()}"


@value
class Consent:
    """All grants of an owner, by source. A source without an entry was never looked at."""

    grants: Mapping[str, GrantsByTool] = field(default_factory=dict)

    def with_grant(self, source: Source, tool: str, grant: Grant) -> "Consent":
        grants = {**self.grants.get(source.key, {}), build_tool_key(tool): grant}
        return Consent(grants={**self.grants, source.key: grants})

    def knows_source(self, source: Source) -> bool:
        return source.key in self.grants

    def find_grant(self, source: Source, tool: str) -> Grant | None:
        return self.grants.get(source.key, {}).get(build_tool_key(tool))
