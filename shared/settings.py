"""Settings from the environment, which nothing else reads. Raises SettingsError at start.

Also called: configuration, environment variables.
"""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Literal

from shared.domain.account.quota import QuotaName
from shared.domain.apps.connection import OauthClient
from shared.domain.chats.safety import SafetyThresholds
from shared.domain.files.wearable_name import WearableName
from shared.domain.models.masking import Masking
from shared.domain.models.token_prices import TokenPrices
from shared.domain.store.omi_level import OmiLevel
from shared.domain.store.vector_home import Shard
from shared.domain.value import value
from shared.environment import model_readers, readers
from shared.environment.model_readers import EmbedderKind
from shared.environment.readers import World
from shared.environment.shard_readers import read_shards
from shared.environment.variables import (
    Environment,
    address,
    choice,
    is_on,
    items,
    key,
    optional,
    pairs,
    read_all,
    setting,
    string,
    variable,
)

Switch = Literal["auto", "on", "off"]
LiveTranscription = Literal["windows", "openai", "deepgram"]
"""Whether a server is asked for something; `auto`: OpenAI's own address alone."""

DEFAULT_TRANSCRIPTION_MODEL = "gpt-4o-transcribe-diarize"
"""It tells speakers apart. OpenAI ends it on 26 February 2027, and names no other that does."""
DEFAULT_REALTIME_MODEL = "gpt-realtime-2.1"
DEFAULT_OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_OPENROUTER_URL = "https://openrouter.ai/api/v1"
DEFAULT_HUB_URL = "https://huggingface.co"
_MODEL_SERVER = "http://127.0.0.1:11434/v1"
DEFAULT_DEEPGRAM_URL = "https://api.deepgram.com"
DEFAULT_TOOL_PROXY_URL = "http://127.0.0.1:8081"
_LIVE_TRANSCRIPTIONS: Mapping[str, LiveTranscription] = {
    "": "windows",
    "windows": "windows",
    "openai": "openai",
    "deepgram": "deepgram",
}
_SWITCH: Mapping[str, Switch] = {"": "auto", "auto": "auto", "on": "on", "off": "off"}


class SettingsError(ValueError):
    """Everything that is wrong with the environment, one line each."""


def require(name: str, value: str | None) -> str:
    """Return a setting that the cloud world cannot do without. Raises SettingsError."""
    if not value:
        raise SettingsError(f"{name} is missing: the cloud world needs it")
    return value


@value
class Settings:
    """The settings of a process; FUNCTION_URLS, SERVICE_AUDIENCES and TASK_ACCOUNTS name our functions.

    Of TOOL_CALL_KEYS and DISCONNECT_KEYS the last one signs, and all are accepted.
    """

    world: World = setting(readers.read_world)
    on_cloud_run: bool = setting(readers.read_on_cloud_run)
    entry_point: str | None = setting(readers.read_entry_point)
    data_dir: Path = setting(variable("DATA_DIR", Path, Path(".keepsake")))
    host: str = setting(string("HOST", "127.0.0.1"))
    port: int = setting(readers.read_port)
    allow_remote: bool = setting(is_on("ALLOW_REMOTE"))
    local_key: str | None = setting(readers.read_local_key)
    password: str | None = setting(optional("KEEPSAKE_PASSWORD"))
    password_file: Path | None = setting(readers.read_password_file)
    user: str = setting(readers.read_user)
    trusted_proxies: tuple[str, ...] = setting(readers.read_trusted_proxies)
    project: str = setting(string("GOOGLE_CLOUD_PROJECT", "keepsake-local"))
    google_stand_ins: Mapping[str, str] = setting(pairs("GOOGLE_STAND_INS", "service=address"))
    model_to_run: str | None = setting(optional("MODEL"))
    models_dir: Path = setting(variable("MODELS_DIR", Path, Path(".cache/models")))
    llama_server: Path | None = setting(variable("LLAMA_SERVER", Path, None))
    runs_speech: bool = setting(choice("SPEECH", {"": False, "local": True}, "want local, or none"))
    speech_model: str = setting(string("SPEECH_MODEL", "base"))
    speech_packages: Path | None = setting(variable("SPEECH_PACKAGES", Path, None))
    hub_url: str = setting(address("HF_ENDPOINT", DEFAULT_HUB_URL, DEFAULT_HUB_URL))
    hub_token: str | None = setting(key("HF_TOKEN"))
    openai_api_key: str | None = setting(model_readers.read_openai_key)
    openai_base_url: str = setting(address("OPENAI_BASE_URL", DEFAULT_OPENAI_URL, _MODEL_SERVER))
    transcription_model: str = setting(string("TRANSCRIPTION_MODEL", DEFAULT_TRANSCRIPTION_MODEL))
    transcription_base_url: str | None = setting(
        address("TRANSCRIPTION_BASE_URL", None, _MODEL_SERVER)
    )
    transcription_api_key: str | None = setting(key("TRANSCRIPTION_API_KEY"))
    live_transcription: LiveTranscription = setting(
        choice("LIVE_TRANSCRIPTION", _LIVE_TRANSCRIPTIONS, "want windows, openai or deepgram")
    )
    deepgram_api_key: str | None = setting(key("DEEPGRAM_API_KEY"))
    deepgram_base_url: str = setting(
        address("DEEPGRAM_BASE_URL", DEFAULT_DEEPGRAM_URL, _MODEL_SERVER)
    )
    realtime_model: str = setting(string("REALTIME_MODEL", DEFAULT_REALTIME_MODEL))
    openrouter_api_key: str | None = setting(key("OPENROUTER_API_KEY"))
    openrouter_base_url: str = setting(
        address("OPENROUTER_BASE_URL", DEFAULT_OPENROUTER_URL, _MODEL_SERVER)
    )
    pinecone_api_key: str | None = setting(key("PINECONE_API_KEY"))
    pinecone_shards: tuple[Shard, ...] = setting(read_shards)
    embedder: EmbedderKind | None = setting(model_readers.read_embedder)
    embedding_dimensions: int | None = setting(model_readers.read_dimensions)
    masking: Masking = setting(choice("MASKING", _SWITCH, "want auto, on or off"))
    models: Mapping[str, str] = setting(model_readers.read_models)
    model_windows: Mapping[str, int] = setting(model_readers.read_model_windows)
    flex: Switch = setting(choice("FLEX_PROCESSING", _SWITCH, "want auto, on or off"))
    cache_marks: Switch = setting(choice("CACHE_MARKS", _SWITCH, "want auto, on or off"))
    tokens_per_minute: int = setting(model_readers.read_tokens_per_minute)
    token_instances: int = setting(model_readers.read_token_instances)
    token_prices: TokenPrices = setting(model_readers.read_token_prices)
    fallback_models: Mapping[str, str] = setting(model_readers.read_fallback_models)
    fallback_base_url: str | None = setting(address("FALLBACK_BASE_URL", None, _MODEL_SERVER))
    fallback_api_key: str | None = setting(model_readers.read_fallback_key)
    tool_proxy_url: str = setting(string("TOOL_PROXY_URL", DEFAULT_TOOL_PROXY_URL))
    egress_dev_origins: tuple[str, ...] = setting(readers.read_dev_origins)
    own_origins: tuple[str, ...] = setting(items("OWN_ORIGINS"))
    service_audiences: Mapping[str, str] = setting(pairs("SERVICE_AUDIENCES", "function=audience"))
    tasks_queue: str | None = setting(optional("TASKS_QUEUE"))
    task_accounts: Mapping[str, str] = setting(pairs("TASK_ACCOUNTS", "function=account"))
    tool_call_keys: tuple[str, ...] = setting(readers.keys("TOOL_CALL_KEYS"))
    disconnect_keys: tuple[str, ...] = setting(readers.keys("DISCONNECT_KEYS"))
    function_urls: Mapping[str, str] = setting(pairs("FUNCTION_URLS", "function=url"))
    cors_origins: tuple[str, ...] = setting(readers.read_cors_origins)
    blobs_bucket: str | None = setting(optional("BLOBS_BUCKET"))
    kms_key: str | None = setting(optional("KMS_KEY"))
    signing_kms_key: str | None = setting(optional("SIGNING_KMS_KEY"))
    sealing_kms_key: str | None = setting(optional("SEALING_KMS_KEY"))
    omi_encryption_secret: str | None = setting(readers.read_omi_secret)
    omi_documents: OmiLevel | None = setting(readers.read_omi_documents)
    pseudonym_key: str | None = setting(optional("PSEUDONYM_KEY"))
    web_push_key: str | None = setting(readers.read_web_push_key)
    public_url: str = setting(readers.read_public_url)
    oauth_clients: Mapping[str, OauthClient] = setting(readers.read_oauth_clients)
    wearable_addresses: Mapping[WearableName, str] = setting(readers.read_wearable_addresses)
    web_search: bool = setting(
        choice("WEB_SEARCH", {"": False, "perplexity": True}, "want perplexity, or none")
    )
    link_checks: bool = setting(
        choice("LINK_CHECKS", {"": True, "on": True, "off": False}, "want on or off")
    )
    harm_limit: float = setting(readers.read_harm_limit)
    quotas: Mapping[QuotaName, int] = setting(readers.read_quotas)
    thresholds: SafetyThresholds = setting(readers.read_thresholds)
    otlp_endpoint: str | None = setting(readers.read_collector)
    otlp_headers: Mapping[str, str] = setting(readers.read_collector_headers)
    trace_share: float = setting(readers.read_trace_share)

    @classmethod
    def from_env(cls, environment: Environment | None = None) -> "Settings":
        """Read the environment. Raises SettingsError, which lists everything that is wrong."""
        reader_by_name = {declared.name: declared.metadata["read"] for declared in fields(cls)}
        values, errors = read_all(
            reader_by_name, os.environ if environment is None else environment
        )
        if errors:
            raise SettingsError("\n".join(errors))
        return cls(**values)

    @property
    def serves_this_machine_alone(self) -> bool:
        """Whether whoever uses the server may run programs on its machine anyway, and have them called."""
        return self.world == "embedded" and not self.allow_remote

    @property
    def serves_personas(self) -> bool:
        """Whether personas have a provider of their own: a key, or a server that may want none."""
        has_own_server = self.openrouter_base_url.rstrip("/") != DEFAULT_OPENROUTER_URL
        return bool(self.openrouter_api_key) or has_own_server

    def uses_flex(self, base_url: str) -> bool:
        """Tell whether what nobody waits for is asked of this server as flex processing."""
        return _is_on(self.flex, base_url)

    def marks_prefixes(self, base_url: str) -> bool:
        """Tell whether requests to this server mark what its prompt cache shall keep."""
        return _is_on(self.cache_marks, base_url)

    def get_function_url(self, name: str) -> str:
        """Raises SettingsError for a function that FUNCTION_URLS does not name."""
        if name not in self.function_urls:
            raise SettingsError(f"FUNCTION_URLS names no url of {name}")
        return self.function_urls[name]


def _is_on(switch: Switch, base_url: str) -> bool:
    return switch == "on" or (switch == "auto" and base_url.rstrip("/") == DEFAULT_OPENAI_URL)
