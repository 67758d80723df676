"""Facts about models, by the beginning of their names; an unknown one gets safe values.

Also called: model capabilities.
"""

from collections.abc import Mapping
from functools import lru_cache

from shared.domain.models.model import ModelFacts

_FACTS_BY_PREFIX: Mapping[str, ModelFacts] = {
    "gpt-4.1": ModelFacts(window_tokens=1_047_576, takes_images=True),
    "gpt-4o": ModelFacts(window_tokens=128_000, takes_images=True),
    "gpt-5": ModelFacts(window_tokens=272_000, takes_images=True),
    "gpt-6-sol": ModelFacts(window_tokens=272_000, takes_images=True),
    "gpt-6": ModelFacts(window_tokens=922_000, takes_images=True),
    "google/gemini-": ModelFacts(window_tokens=1_000_000, takes_images=True),
    "anthropic/claude-": ModelFacts(window_tokens=200_000, takes_images=True),
}
"""As their makers state them; of gpt-5 and gpt-6 what they read, because they answer beside that.

gpt-6-sol reads as much as the others of gpt-6, at twice the price: what it reads at the plain one counts.
"""

_SKIPS_REASONING = ("gpt-5.6-", "gpt-6-luna", "gpt-6-sol", "gpt-6.1-terra")
"""OpenAI's reasoning models that know the effort `none`; others of gpt-6 refuse it."""

_TAKES_BREAKPOINTS = ("gpt-5.6", "gpt-6")
"""Models whose cache keeps what requests mark, and costs for what is written to it."""


@lru_cache(maxsize=1_000)
def find_model_facts(name: str) -> ModelFacts:
    """Return the facts of a model, such as `gpt-6-luna`."""
    prefixes = (prefix for prefix in _FACTS_BY_PREFIX if name.startswith(prefix))
    prefix = next(prefixes, None)
    return ModelFacts() if prefix is None else _FACTS_BY_PREFIX[prefix]


def can_skip_reasoning(name: str) -> bool:
    """Tell whether a model takes the reasoning effort `none`, without which it reasons first."""
    return name.startswith(_SKIPS_REASONING)


def takes_cache_breakpoints(name: str) -> bool:
    """Tell whether requests mark the beginnings that a model's cache shall keep."""
    return name.startswith(_TAKES_BREAKPOINTS)
