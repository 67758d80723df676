"""OpenAI in both worlds: clients by an address and a key, from the settings or the console."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, get_args

from shared.settings import Settings, require

if TYPE_CHECKING:
    from shared import ports
    from shared.adapters.cloud.openai_model import OpenaiModel
    from shared.domain.models.model import ModelRole
    from shared.models.known_models import KnownModels

    BuildClient = Callable[..., OpenaiModel]


def build_model(
    settings: Settings, clock: ports.Clock, *, known: KnownModels, is_patient: bool = False
) -> ports.ChatModel:
    """Build the models of all roles, each with its fallback. Raises SettingsError without a key.

    One that `is_patient` asks for flex processing first, where there is any. `known` is what is known of
    them, and grows.
    """
    from shared.adapters.resilient_model import ResilientModel

    build_client = partial(_build_client, settings, clock, known)
    primaries = _build_models(settings, settings.models, build_client)
    fallbacks = _build_fallbacks(settings, build_client)
    is_flex = is_patient and settings.uses_flex(settings.openai_base_url)
    flex = _build_models(settings, settings.models, build_client, is_flex=True) if is_flex else {}
    models_by_role = {
        role: [models[role] for models in (flex, primaries, fallbacks) if role in models]
        for role in primaries
    }
    return ResilientModel(models_by_role, clock)


def _build_models(
    settings: Settings,
    models: Mapping[str, str],
    build_client: BuildClient,
    *,
    is_flex: bool = False,
) -> dict[ModelRole, OpenaiModel]:
    """Build a client for each role: persona roles use OpenRouter if it is set up, the others share one client."""
    from shared.domain.models.model import ModelRole

    roles = [role for role in get_args(ModelRole) if role in models]
    personas = [role for role in roles if role.startswith("persona")]
    api_key = require("OPENAI_API_KEY", settings.openai_api_key)
    if not settings.serves_personas and "agent" in models:
        names = {**models, **dict.fromkeys(personas, models["agent"])}
        openai = build_client(names, api_key, settings.openai_base_url, is_flex=is_flex)
        return dict.fromkeys(roles, openai)
    openai = build_client(models, api_key, settings.openai_base_url, is_flex=is_flex)
    openrouter = build_client(models, settings.openrouter_api_key, settings.openrouter_base_url)
    return {role: openrouter if role in personas else openai for role in roles}


def _build_fallbacks(settings: Settings, build_client: BuildClient) -> dict[ModelRole, OpenaiModel]:
    """Build the fallback of each role, at the role's provider or at FALLBACK_BASE_URL."""
    models = settings.fallback_models
    models_by_role = _build_models(settings, models, build_client)
    url = settings.fallback_base_url
    if url is None:
        return models_by_role
    return dict.fromkeys(models_by_role, build_client(models, settings.fallback_api_key, url))


def _build_client(
    settings: Settings,
    clock: ports.Clock,
    known: KnownModels,
    models: Mapping[str, str],
    api_key: str | None,
    base_url: str,
    *,
    is_flex: bool = False,
) -> OpenaiModel:
    from shared.adapters.cloud.openai_model import OpenaiModel

    return OpenaiModel(
        api_key=api_key,
        base_url=base_url,
        models=models,
        windows=settings.model_windows,
        prices=settings.token_prices,
        is_flex=is_flex,
        marks_prefixes=settings.marks_prefixes(base_url),
        known=known,
        clock=clock,
    )


def build_embedder(settings: Settings, clock: ports.Clock) -> ports.Embedder:
    """Raises SettingsError without a key."""
    from shared.adapters.cloud.openai_embedder import OpenaiEmbedder

    return OpenaiEmbedder(
        api_key=require("OPENAI_API_KEY", settings.openai_api_key),
        base_url=settings.openai_base_url,
        model=settings.models["embeddings"],
        dimensions=settings.embedding_dimensions,
        clock=clock,
    )


def build_moderator(api_key: str, base_url: str, clock: ports.Clock) -> ports.Moderator:
    from shared.adapters.cloud.openai_moderator import OpenaiModerator

    return OpenaiModerator(api_key=api_key, base_url=base_url, clock=clock)


def build_transcriber(api_key: str | None, base_url: str, model: str) -> ports.Transcriber:
    from shared.adapters.cloud.openai_transcriber import OpenaiTranscriber

    return OpenaiTranscriber(api_key=api_key or "none", base_url=base_url, model=model)


def build_realtime(
    api_key: str, base_url: str, model: str, *, pseudonym_key: bytes
) -> ports.Realtime:
    from shared.adapters.cloud.openai_realtime import OpenaiRealtime
    from shared.security.pseudonyms import Pseudonyms

    return OpenaiRealtime(
        api_key=api_key,
        base_url=base_url,
        model=model,
        hash_user=Pseudonyms(pseudonym_key).hash,
    )
