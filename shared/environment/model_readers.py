"""Settings of models: which one plays which role, what stands in for it, and what it may use and costs."""

from collections.abc import Mapping
from typing import Literal

from shared.domain.models.token_prices import DEFAULT_TOKEN_PRICES, TokenPrices, parse_token_price
from shared.environment.variables import (
    Environment,
    choice,
    each,
    is_cloud,
    items,
    key,
    number,
    pairs,
    parse_number,
    refuse,
    variable,
)

EmbedderKind = Literal["openai", "local", "off"]

DEFAULT_MODELS: Mapping[str, str] = {
    "fast": "gpt-6-luna",
    "reader": "gpt-6-luna",
    "standard": "gpt-6-luna",
    "agent": "gpt-6-sol",
    "embeddings": "text-embedding-3-large",
    "persona": "google/gemini-3.5-flash-lite",
    "persona_premium": "anthropic/claude-sonnet-5.5",
}
"""Model names by role. MODEL_<ROLE> overrides one; persona roles use OPENROUTER_BASE_URL."""

_WINDOWS = {role: f"MODEL_{role.upper()}_WINDOW" for role in DEFAULT_MODELS if role != "embeddings"}
"""Variables of the tokens that the models of a role take, its fallback included."""

_FALLBACK_ROLES = sorted(DEFAULT_MODELS.keys() - {"embeddings"})
"""No fallback for embeddings: vectors of two models cannot be compared."""

SHORTENED_DIMENSIONS = 512
"""Length of the dense vectors of models that shorten them by themselves; assumed, not measured."""
_SHORTENING_MODELS = "text-embedding-3"
"""The start of their names."""
_MAX_DIMENSIONS = 20_000
"""Pinecone's limit."""
MIN_WINDOW_TOKENS = 4_096
"""With less there is no room for our rules, the tools and an answer."""
_EMBEDDERS: Mapping[str, EmbedderKind | None] = {
    "": None,
    "openai": "openai",
    "local": "local",
    "off": "off",
}

read_model_windows = each(
    _WINDOWS,
    parse_number(MIN_WINDOW_TOKENS),
    f"want a number of tokens, at least {MIN_WINDOW_TOKENS}",
)


def read_models(env: Environment) -> Mapping[str, str]:
    """Read the model of each role; who names a standard model and no reader has that one read."""
    names = {role: f"MODEL_{role.upper()}" for role in DEFAULT_MODELS}
    known = {*names.values(), *_WINDOWS.values()}
    refuse(
        [
            f"{name}: unknown model role; known are {', '.join(sorted(names.values()))}"
            for name in env
            if name.startswith("MODEL_") and name not in known
        ]
    )
    defaults = {**DEFAULT_MODELS, "reader": env.get("MODEL_STANDARD") or DEFAULT_MODELS["reader"]}
    return {role: env.get(name) or defaults[role] for role, name in names.items()}


read_openai_key = key("OPENAI_API_KEY")


def read_embedder(env: Environment) -> EmbedderKind | None:
    """Read what embeds the library; None, in the cloud alone, leaves it to the index that is there."""
    chosen = choice("EMBEDDER", _EMBEDDERS, "want local, openai or off")(env)
    embedder = chosen or (None if is_cloud(env) else "local")
    if embedder == "openai" and not read_openai_key(env):
        raise ValueError("OPENAI_API_KEY is missing: EMBEDDER=openai compares meanings with it")
    return embedder


def read_dimensions(env: Environment) -> int | None:
    """Read how long dense vectors are; None leaves it to a model that may not shorten them."""
    model = env.get("MODEL_EMBEDDINGS") or DEFAULT_MODELS["embeddings"]
    return variable(
        "EMBEDDING_DIMENSIONS",
        parse_number(1, _MAX_DIMENSIONS),
        SHORTENED_DIMENSIONS if model.startswith(_SHORTENING_MODELS) else None,
        f"want a length from 1 to {_MAX_DIMENSIONS}",
    )(env)


read_tokens_per_minute = number(
    "TOKENS_PER_MINUTE", 0, "want a number of tokens, or 0 for no limit"
)


def read_token_instances(env: Environment) -> int:
    """Read how many instances share the tokens a minute; the cloud cannot guess it."""
    sentence = "want a number of instances, at least 1"
    instances = number("TOKEN_INSTANCES", 1, sentence)(env)
    if not read_tokens_per_minute(env):
        return instances
    if is_cloud(env) and not env.get("TOKEN_INSTANCES"):
        raise ValueError(
            "TOKEN_INSTANCES is missing: so many instances may share TOKENS_PER_MINUTE"
        )
    return number("TOKEN_INSTANCES", 1, sentence, least=1)(env)


def read_token_prices(env: Environment) -> TokenPrices:
    """Read prices by model, which come before those that are known."""
    prices = items("TOKEN_PRICES")(env)
    refuse(
        [
            f"TOKEN_PRICES: {item!r}: want model=input/cached/output in US dollars per million"
            " tokens, such as gpt-6-sol=2/0.2/10, perhaps with a price of writing to the cache,"
            " gpt-6-sol=2/0.2/10/2.5"
            for item in prices
            if not _is_token_price(item)
        ]
    )
    by_model = (item.partition("=") for item in prices)
    return {
        **DEFAULT_TOKEN_PRICES,
        **{model: parse_token_price(price) for model, _, price in by_model},
    }


def _is_token_price(item: str) -> bool:
    model, _, price = item.partition("=")
    try:
        parse_token_price(price)
    except ValueError:
        return False
    return bool(model)


def read_fallback_models(env: Environment) -> Mapping[str, str]:
    models = pairs("FALLBACK_MODELS", "role=model")(env)
    refuse(
        [
            f"FALLBACK_MODELS: unknown model role {role!r}; known are {', '.join(_FALLBACK_ROLES)}"
            for role in models
            if role not in _FALLBACK_ROLES
        ]
    )
    return models


def read_fallback_key(env: Environment) -> str | None:
    fallback_key = key("FALLBACK_API_KEY")(env)
    if fallback_key is None and env.get("FALLBACK_BASE_URL"):
        raise ValueError("FALLBACK_API_KEY is missing: FALLBACK_BASE_URL is sent no other key")
    return fallback_key
