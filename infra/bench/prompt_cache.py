"""Prompt cache: a model of the provider's, which keeps what requests mark and reads what begins alike.

As OpenAI's guide to prompt caching has it for gpt-5.6 and later; it never forgets here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from shared.domain.models.tokens import estimate_tokens

MIN_TOKENS, MAX_WRITES = 1_024, 4
"""Of a beginning that is kept, and of those that one request adds."""
READ_PRICE, WRITE_PRICE = 0.1, 1.25
"""Of a token, to one that is neither read from the cache nor written to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedInput:
    """Tokens of requests: all, those read from the cache, and those written to it."""

    total: int = 0
    read: int = 0
    written: int = 0

    @property
    def read_share(self) -> float:
        return self.read / self.total

    @property
    def price_share(self) -> float:
        """What they cost, to the same without a cache."""
        saved = self.read * (1 - READ_PRICE) - self.written * (WRITE_PRICE - 1)
        return 1 - saved / self.total

    def __add__(self, other: "CachedInput") -> "CachedInput":
        return CachedInput(
            total=self.total + other.total,
            read=self.read + other.read,
            written=self.written + other.written,
        )


class PromptCache:
    """The cache of one model."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def take(self, body: Mapping[str, Any]) -> CachedInput:
        """Read the longest kept beginning of a request that it marks, and keep its latest marks."""
        *_, (whole, _) = prefixes = list(_list_prefixes(body))
        marked = [prefix for prefix, is_marked in prefixes if is_marked]
        marked = [prefix for prefix in marked if estimate_tokens(prefix) >= MIN_TOKENS]
        read = max((estimate_tokens(each) for each in marked if each in self._kept), default=0)
        self._kept.update(marked[-MAX_WRITES:])
        end = estimate_tokens(marked[-1]) if marked else 0
        return CachedInput(total=estimate_tokens(whole), read=read, written=end - read)


def _list_prefixes(body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield a request up to each of its messages, as a model reads it, and whether its end is marked."""
    text = to_json([body.get("tools", []), body.get("response_format", {})]).decode()
    for message in body["messages"]:
        content = message["content"]
        is_marked = isinstance(content, list) and "prompt_cache_breakpoint" in content[-1]
        text += to_json({**message, "content": _list_parts(content)}).decode()
        yield text, is_marked


def _list_parts(content: Any) -> Any:
    """Return the parts of a message, in the same words whether its end is marked or not."""
    if not isinstance(content, list):
        return [content]
    parts = [
        {key: value for key, value in part.items() if key != "prompt_cache_breakpoint"}
        for part in content
    ]
    return [part["text"] if part["type"] == "text" else part for part in parts]
