"""OpenAI in both worlds: clients by an address and a key, from the settings or the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from shared.settings import Settings, require

if TYPE_CHECKING:
    from shared import ports
    from shared.adapters.cloud.openai_model import OpenaiModel
    from shared.domain.model import ModelRole


def build_model(
    settings: Settings, clock: ports.Clock, *, is_patient: bool = False
) -> ports.ChatModel:
    """Build the models of all roles, each with its fallback. Raises SettingsError without a key.

    One that `is_patient` asks for flex processing first, where there is any.
    """
    from shared.adapters.resilient_model import ResilientModel

    primaries, fallbacks = _build_models(settings, settings.models), _build_fallbacks(settings)
    is_flex = is_patient and settings.uses_flex(settings.openai_base_url)
    flex = _build_models(settings, settings.models, is_flex=True) if is_flex else {}
    models_by_role = {
        role: [models[role] for models in (flex, primaries, fallbacks) if role in models]
        for role in primaries
    }
    return ResilientModel(models_by_role, clock)


def _build_models(
    settings: Settings, models: Mapping[str, str], *, is_flex: bool = False
) -> dict[ModelRole, OpenaiModel]:
    """Build a client for each role: persona roles use OpenRouter, the others share one client."""
    from shared.domain.model import ModelRole

    api_key = require("OPENAI_API_KEY", settings.openai_api_key)
    openai = _build_client(settings, models, api_key, settings.openai_base_url, is_flex=is_flex)
    openrouter = _build_client(
        settings, models, settings.openrouter_api_key, settings.openrouter_base_url
    )
    return {
        role: openrouter if role.startswith("persona") else openai
        for role in get_args(ModelRole)
        if role in models
    }


def _build_fallbacks(settings: Settings) -> dict[ModelRole, OpenaiModel]:
    """Build the fallback of each role, at the role's provider or at FALLBACK_BASE_URL."""
    models = settings.fallback_models
    models_by_role = _build_models(settings, models)
    url = settings.fallback_base_url
    if url is None:
        return models_by_role
    return dict.fromkeys(
        models_by_role, _build_client(settings, models, settings.fallback_api_key, url)
    )


def _build_client(
    settings: Settings,
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
