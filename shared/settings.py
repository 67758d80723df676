"""Settings from the environment, which nothing else reads. Raises SettingsError at start."""

import os
import re
from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_network
from math import inf
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

from shared.domain.connection import OauthClient
from shared.domain.ids import is_id
from shared.domain.model import Masking
from shared.domain.quota import CLOUD_LIMITS, EMBEDDED_LIMITS, QuotaName
from shared.domain.safety import SafetyThresholds
from shared.domain.token_prices import DEFAULT_TOKEN_PRICES, TokenPrices, parse_token_price
from shared.domain.value import value
from shared.domain.vector_home import BUCKETS, Shard

World = Literal["embedded", "cloud"]
EmbedderKind = Literal["openai", "local"]
FlexProcessing = Literal["auto", "on", "off"]

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

_WINDOW_ROLES = {
    f"MODEL_{role.upper()}_WINDOW": role for role in DEFAULT_MODELS if role != "embeddings"
}
"""Variables of the tokens that the models of a role take, its fallback included."""

_THRESHOLDS = {f"{score.upper()}_THRESHOLD": score for score in ("harm", "misuse", "injection")}
"""Variables of the scores as of which a question is refused, or its answer warned."""

_FALLBACK_ROLES = sorted(DEFAULT_MODELS.keys() - {"embeddings"})
"""No fallback for embeddings: vectors of two models cannot be compared."""

SHORTENED_DIMENSIONS = 512
"""Length of the dense vectors of models that shorten them by themselves; assumed, not measured."""
_SHORTENING_MODELS = "text-embedding-3"
"""The start of their names."""
_MAX_DIMENSIONS = 20_000
"""Pinecone's limit."""

DEFAULT_TRANSCRIPTION_MODEL = "gpt-4o-transcribe-diarize"
"""It tells speakers apart. OpenAI ends it on 26 February 2027, and names no other that does."""
DEFAULT_REALTIME_MODEL = "gpt-realtime-2.1"
DEFAULT_OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_OPENROUTER_URL = "https://openrouter.ai/api/v1"
DEFAULT_TOOL_PROXY_URL = "http://127.0.0.1:8081"
DEFAULT_HARM_LIMIT = 7.0
"""From here on, of 0 to 10, an answer is written again."""
MIN_KEY_CHARS = 32
MIN_WINDOW_TOKENS = 8_000
"""With less there is no room for our rules, the tools and an answer."""
_PROVIDERS = ("GOOGLE", "WHOOP", "NOTION", "X", "GITHUB", "PERPLEXITY")
"""OAuth providers, and services called with our own API key."""
_MASKINGS: Mapping[str, Masking] = {"auto": "auto", "on": "on", "off": "off"}
_FLEX: Mapping[str, FlexProcessing] = {"auto": "auto", "on": "on", "off": "off"}
_EMBEDDERS: Mapping[str, EmbedderKind] = {"openai": "openai", "local": "local"}


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

    world: World = "embedded"
    on_cloud_run: bool = False
    data_dir: Path = Path(".keepsake")
    host: str = "127.0.0.1"
    port: int = 8080
    allow_remote: bool = False
    local_key: str | None = None
    password: str | None = None
    password_file: Path | None = None
    user: str = "me"
    trusted_proxies: tuple[str, ...] = ()
    project: str = "keepsake-local"
    google_stand_ins: Mapping[str, str] = field(default_factory=dict)
    openai_api_key: str | None = None
    openai_base_url: str = DEFAULT_OPENAI_URL
    transcription_model: str = DEFAULT_TRANSCRIPTION_MODEL
    transcription_base_url: str | None = None
    transcription_api_key: str | None = None
    realtime_model: str = DEFAULT_REALTIME_MODEL
    openrouter_api_key: str | None = None
    openrouter_base_url: str = DEFAULT_OPENROUTER_URL
    pinecone_api_key: str | None = None
    pinecone_shards: tuple[Shard, ...] = ()
    embedder: EmbedderKind | None = None
    embedding_dimensions: int | None = SHORTENED_DIMENSIONS
    masking: Masking = "auto"
    models: Mapping[str, str] = field(default_factory=lambda: DEFAULT_MODELS)
    model_windows: Mapping[str, int] = field(default_factory=dict)
    flex: FlexProcessing = "auto"
    tokens_per_minute: int = 0
    token_instances: int = 1
    token_prices: TokenPrices = field(default_factory=lambda: DEFAULT_TOKEN_PRICES)
    fallback_models: Mapping[str, str] = field(default_factory=dict)
    fallback_base_url: str | None = None
    fallback_api_key: str | None = None
    tool_proxy_url: str = DEFAULT_TOOL_PROXY_URL
    egress_dev_origins: tuple[str, ...] = ()
    own_origins: tuple[str, ...] = ()
    service_audiences: Mapping[str, str] = field(default_factory=dict)
    tasks_queue: str | None = None
    task_accounts: Mapping[str, str] = field(default_factory=dict)
    tool_call_keys: tuple[str, ...] = ()
    disconnect_keys: tuple[str, ...] = ()
    function_urls: Mapping[str, str] = field(default_factory=dict)
    cors_origins: tuple[str, ...] = ()
    blobs_bucket: str | None = None
    kms_key: str | None = None
    signing_kms_key: str | None = None
    sealing_kms_key: str | None = None
    pseudonym_key: str | None = None
    web_push_key: str | None = None
    public_url: str = ""
    oauth_clients: Mapping[str, OauthClient] = field(default_factory=dict)
    web_search: bool = False
    link_checks: bool = True
    harm_limit: float = DEFAULT_HARM_LIMIT
    quotas: Mapping[QuotaName, int] = field(default_factory=lambda: EMBEDDED_LIMITS)
    thresholds: SafetyThresholds = SafetyThresholds()
    otlp_endpoint: str | None = None
    otlp_headers: Mapping[str, str] = field(default_factory=dict)
    trace_share: float = 1.0

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read the environment. Raises SettingsError, which lists everything that is wrong."""
        env = os.environ if environment is None else environment
        errors = _find_errors(env)
        if errors:
            raise SettingsError("\n".join(errors))
        port = int(env.get("PORT", "8080"))
        return cls(
            world="cloud" if env.get("KEEPSAKE_WORLD") == "cloud" else "embedded",
            on_cloud_run="K_SERVICE" in env,
            data_dir=Path(env.get("DATA_DIR") or ".keepsake"),
            host=env.get("HOST") or "127.0.0.1",
            port=port,
            allow_remote=env.get("ALLOW_REMOTE") == "1",
            local_key=env.get("LOCAL_KEY") or None,
            password=env.get("KEEPSAKE_PASSWORD") or None,
            password_file=Path(env["PASSWORD_FILE"]) if env.get("PASSWORD_FILE") else None,
            user=env.get("KEEPSAKE_USER") or "me",
            trusted_proxies=_parse_list(env.get("TRUSTED_PROXIES", "")),
            project=env.get("GOOGLE_CLOUD_PROJECT", "keepsake-local"),
            google_stand_ins=_parse_pairs(env.get("GOOGLE_STAND_INS", "")),
            openai_api_key=env.get("OPENAI_API_KEY") or None,
            openai_base_url=env.get("OPENAI_BASE_URL") or DEFAULT_OPENAI_URL,
            transcription_model=env.get("TRANSCRIPTION_MODEL") or DEFAULT_TRANSCRIPTION_MODEL,
            transcription_base_url=env.get("TRANSCRIPTION_BASE_URL") or None,
            transcription_api_key=env.get("TRANSCRIPTION_API_KEY") or None,
            realtime_model=env.get("REALTIME_MODEL") or DEFAULT_REALTIME_MODEL,
            openrouter_api_key=env.get("OPENROUTER_API_KEY") or None,
            openrouter_base_url=env.get("OPENROUTER_BASE_URL") or DEFAULT_OPENROUTER_URL,
            pinecone_api_key=env.get("PINECONE_API_KEY") or None,
            pinecone_shards=_parse_shards(env),
            embedder=_EMBEDDERS.get(env.get("EMBEDDER", "")),
            embedding_dimensions=_parse_dimensions(env),
            masking=_MASKINGS[env.get("MASKING") or "auto"],
            models=_parse_models(env),
            model_windows={
                role: int(env[name]) for name, role in _WINDOW_ROLES.items() if env.get(name)
            },
            tokens_per_minute=int(env.get("TOKENS_PER_MINUTE") or 0),
            token_instances=int(env.get("TOKEN_INSTANCES") or 1),
            flex=_FLEX[env.get("FLEX_PROCESSING") or "auto"],
            token_prices=_parse_token_prices(env.get("TOKEN_PRICES", "")),
            fallback_models=_parse_pairs(env.get("FALLBACK_MODELS", "")),
            fallback_base_url=env.get("FALLBACK_BASE_URL") or None,
            fallback_api_key=env.get("FALLBACK_API_KEY") or None,
            tool_proxy_url=env.get("TOOL_PROXY_URL", DEFAULT_TOOL_PROXY_URL),
            egress_dev_origins=_parse_list(env.get("EGRESS_DEV_ORIGINS", "")),
            own_origins=_parse_list(env.get("OWN_ORIGINS", "")),
            service_audiences=_parse_pairs(env.get("SERVICE_AUDIENCES", "")),
            tasks_queue=env.get("TASKS_QUEUE") or None,
            task_accounts=_parse_pairs(env.get("TASK_ACCOUNTS", "")),
            tool_call_keys=_parse_list(env.get("TOOL_CALL_KEYS", "")),
            disconnect_keys=_parse_list(env.get("DISCONNECT_KEYS", "")),
            function_urls=_parse_pairs(env.get("FUNCTION_URLS", "")),
            cors_origins=_parse_list(env.get("CORS_ORIGINS", "")),
            blobs_bucket=env.get("BLOBS_BUCKET") or None,
            kms_key=env.get("KMS_KEY") or None,
            signing_kms_key=env.get("SIGNING_KMS_KEY") or None,
            sealing_kms_key=env.get("SEALING_KMS_KEY") or None,
            pseudonym_key=env.get("PSEUDONYM_KEY") or None,
            web_push_key=env.get("WEB_PUSH_KEY") or None,
            public_url=env.get("PUBLIC_URL", f"http://127.0.0.1:{port}").rstrip("/"),
            oauth_clients=_parse_oauth_clients(env),
            web_search=env.get("WEB_SEARCH") == "perplexity",
            link_checks=env.get("LINK_CHECKS") != "off",
            harm_limit=_parse_harm_limit(env.get("HARM_LIMIT", "")),
            quotas=_parse_quotas(env),
            thresholds=SafetyThresholds(
                **{score: float(env[name]) for name, score in _THRESHOLDS.items() if env.get(name)}
            ),
            otlp_endpoint=env.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").rstrip("/") or None,
            otlp_headers=_parse_pairs(env.get("OTEL_EXPORTER_OTLP_HEADERS", "")),
            trace_share=float(env.get("OTEL_TRACES_SAMPLER_ARG") or 1),
        )

    def uses_flex(self, base_url: str) -> bool:
        """Tell whether what nobody waits for is asked of this server as flex processing."""
        return self.flex == "on" or (
            self.flex == "auto" and base_url.rstrip("/") == DEFAULT_OPENAI_URL
        )

    def get_function_url(self, name: str) -> str:
        """Raises SettingsError for a function that FUNCTION_URLS does not name."""
        if name not in self.function_urls:
            raise SettingsError(f"FUNCTION_URLS names no url of {name}")
        return self.function_urls[name]


def _parse_models(env: Mapping[str, str]) -> dict[str, str]:
    """Read the model of each role; who names a standard model and no reader has that one read."""
    defaults = {**DEFAULT_MODELS, "reader": env.get("MODEL_STANDARD") or DEFAULT_MODELS["reader"]}
    return {role: env.get(f"MODEL_{role.upper()}") or name for role, name in defaults.items()}


def _parse_dimensions(env: Mapping[str, str]) -> int | None:
    """Read how long dense vectors are; None leaves it to a model that may not shorten them."""
    if dimensions := env.get("EMBEDDING_DIMENSIONS"):
        return int(dimensions)
    model = env.get("MODEL_EMBEDDINGS") or DEFAULT_MODELS["embeddings"]
    return SHORTENED_DIMENSIONS if model.startswith(_SHORTENING_MODELS) else None


def _parse_token_prices(text: str) -> TokenPrices:
    """Read prices by model, which come before those that are known."""
    prices = {model: parse_token_price(price) for model, price in _parse_pairs(text).items()}
    return {**DEFAULT_TOKEN_PRICES, **prices}


def _parse_shards(env: Mapping[str, str]) -> tuple[Shard, ...]:
    """Read the hosts of each range of buckets; one host has all of them."""
    sparse = _parse_bucket_hosts(env, "PINECONE_SPARSE_HOST")
    dense = _parse_bucket_hosts(env, "PINECONE_DENSE_HOST")
    return tuple(
        Shard(first=buckets[0], last=buckets[-1], sparse_host=host, dense_host=dense.get(buckets))
        for buckets, host in sparse.items()
    )


def _parse_bucket_hosts(env: Mapping[str, str], name: str) -> dict[range, str]:
    if not env.get(f"{name}S"):
        return {range(BUCKETS): env[name]} if env.get(name) else {}
    pairs = _parse_pairs(env[f"{name}S"]).items()
    return {_parse_buckets(buckets): host for buckets, host in pairs}


def _parse_buckets(text: str) -> range:
    first, last = text.split("-")
    return range(int(first), int(last) + 1)


def _find_shard_errors(env: Mapping[str, str]) -> list[str]:
    names = ("PINECONE_SPARSE_HOSTS", "PINECONE_DENSE_HOSTS")
    errors = [
        f"{name}: want first-last=host, separated by commas, with each bucket from 0 to"
        f" {BUCKETS - 1} in one range"
        for name in names
        if env.get(name) and not _has_each_bucket_once(env[name])
    ]
    if errors or not (env.get("PINECONE_DENSE_HOSTS") or env.get("PINECONE_DENSE_HOST")):
        return errors
    sparse, dense = (_parse_bucket_hosts(env, name.removesuffix("S")) for name in names)
    if sparse and sparse.keys() != dense.keys():
        return ["PINECONE_DENSE_HOSTS: want the same ranges of buckets as PINECONE_SPARSE_HOSTS"]
    return []


def _has_each_bucket_once(text: str) -> bool:
    if not all(re.fullmatch(r"\d{1,4}-\d{1,4}=\S+", item) for item in _parse_list(text)):
        return False
    ranges = [_parse_buckets(item.split("=")[0]) for item in _parse_list(text)]
    found = sorted(bucket for buckets in ranges for bucket in buckets)
    return all(ranges) and found == list(range(BUCKETS))


def _parse_quotas(env: Mapping[str, str]) -> dict[QuotaName, int]:
    """Read the limit of each quota; 0 switches it off."""
    defaults = CLOUD_LIMITS if env.get("KEEPSAKE_WORLD") == "cloud" else EMBEDDED_LIMITS
    limits = {
        name: int(env.get(_quota_variable(name)) or limit) for name, limit in defaults.items()
    }
    return {name: limit for name, limit in limits.items() if limit}


def _quota_variable(name: QuotaName) -> str:
    return f"QUOTA_{name.upper()}"


def _parse_oauth_clients(env: Mapping[str, str]) -> dict[str, OauthClient]:
    """Read our OAuth client at each provider; an API key of ours is stored as its secret."""
    return {
        name.lower(): OauthClient(
            id=env.get(f"{name}_CLIENT_ID", ""),
            secret=env.get(f"{name}_CLIENT_SECRET") or env.get(f"{name}_API_KEY", ""),
            base_url=env.get(f"{name}_BASE_URL") or None,
        )
        for name in _PROVIDERS
        if env.get(f"{name}_CLIENT_ID") or env.get(f"{name}_API_KEY")
    }


def _parse_harm_limit(text: str) -> float:
    return inf if text == "off" else float(text or DEFAULT_HARM_LIMIT)


def _is_harm_limit(text: str) -> bool:
    return text in ("", "off") or (re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None)


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _parse_pairs(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in _parse_list(text) if "=" in item)


_PAIR_FORMATS = {
    "SERVICE_AUDIENCES": "function=audience",
    "FUNCTION_URLS": "function=url",
    "TASK_ACCOUNTS": "function=account",
    "FALLBACK_MODELS": "role=model",
    "GOOGLE_STAND_INS": "service=address",
    "OTEL_EXPORTER_OTLP_HEADERS": "name=value",
}


_FOR_TESTS = {
    "FIREBASE_AUTH_EMULATOR_HOST": "lets unsigned tokens in",
    "GOOGLE_STAND_INS": "names servers without TLS",
}


def _parse_number(text: str) -> int:
    """Read a whole number; 0 for anything else."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def _is_port(text: str) -> bool:
    return text.isdecimal() and int(text) <= 65_535


def _find_embedder_errors(env: Mapping[str, str]) -> list[str]:
    errors = []
    if env.get("EMBEDDER", "") not in ("", *_EMBEDDERS):
        errors.append(f"EMBEDDER={env['EMBEDDER']!r}: want openai or local, or none")
    if env.get("EMBEDDER") == "openai" and not env.get("OPENAI_API_KEY"):
        errors.append("OPENAI_API_KEY is missing: EMBEDDER=openai compares meanings with it")
    if not 1 <= _parse_number(env.get("EMBEDDING_DIMENSIONS") or "1") <= _MAX_DIMENSIONS:
        errors.append(
            f"EMBEDDING_DIMENSIONS={env['EMBEDDING_DIMENSIONS']!r}: want a length from 1 to"
            f" {_MAX_DIMENSIONS}"
        )
    return errors


def _find_errors(env: Mapping[str, str]) -> list[str]:
    """List everything that is wrong, so that one start shows all of it."""
    errors = []
    world = env.get("KEEPSAKE_WORLD", "embedded")
    if world not in get_args(World):
        errors.append(f"KEEPSAKE_WORLD={world!r}: want embedded or cloud")
    errors += _find_embedder_errors(env)
    if (env.get("MASKING") or "auto") not in _MASKINGS:
        errors.append(f"MASKING={env['MASKING']!r}: want auto, on or off")
    errors += _find_budget_errors(env, world)
    if (env.get("FLEX_PROCESSING") or "auto") not in _FLEX:
        errors.append(f"FLEX_PROCESSING={env['FLEX_PROCESSING']!r}: want auto, on or off")
    if "K_SERVICE" in env:
        errors += _find_cloud_run_errors(env, world)
    if world == "cloud" and env.get("EGRESS_DEV_ORIGINS"):
        errors.append("EGRESS_DEV_ORIGINS is for development only: unset it in the cloud")
    errors += [
        f"{name}: want {pair_format}, separated by commas"
        for name, pair_format in _PAIR_FORMATS.items()
        if any("=" not in item for item in _parse_list(env.get(name, "")))
    ]
    if 0 < len(env.get("WEB_PUSH_KEY", "")) < MIN_KEY_CHARS:
        errors.append(f"WEB_PUSH_KEY: want a text of at least {MIN_KEY_CHARS} characters")
    errors += [
        f"{name}: want keys of at least {MIN_KEY_CHARS} characters, separated by commas"
        for name in ("TOOL_CALL_KEYS", "DISCONNECT_KEYS")
        if any(len(key) < MIN_KEY_CHARS for key in _parse_list(env.get(name, "")))
    ]
    errors += [
        f"{variable}={env[variable]!r}: want a number, or 0 for no limit"
        for variable in map(_quota_variable, EMBEDDED_LIMITS)
        if not (env.get(variable) or "0").isdecimal()
    ]
    errors += [
        f"{name}={env[name]!r}: want a score above 0 and up to 10, such as 7.5"
        for name in _THRESHOLDS
        if env.get(name) and not _is_score(env[name])
    ]
    if not _is_port(env.get("PORT", "8080")):
        errors.append(f"PORT={env['PORT']!r}: want a number up to 65535")
    errors += _find_shard_errors(env) + _find_trace_errors(env)
    return errors + _find_sign_in_errors(env) + _find_model_errors(env) + _find_account_errors(env)


def _find_trace_errors(env: Mapping[str, str]) -> list[str]:
    errors = []
    endpoint = urlsplit(env.get("OTEL_EXPORTER_OTLP_ENDPOINT", ""))
    if endpoint.geturl() and not (endpoint.scheme in ("http", "https") and endpoint.hostname):
        errors.append(
            "OTEL_EXPORTER_OTLP_ENDPOINT: want the address of a collector, such as"
            " http://127.0.0.1:4318"
        )
    if not re.fullmatch(r"(0?\.\d+|[01](\.0*)?)?", env.get("OTEL_TRACES_SAMPLER_ARG", "")):
        errors.append(
            "OTEL_TRACES_SAMPLER_ARG: want a share of all traces from 0 to 1, such as 0.1"
        )
    return errors


def _find_budget_errors(env: Mapping[str, str], world: str) -> list[str]:
    """List what is wrong with the budget of tokens."""
    errors = [
        f"{name}={env[name]!r}: want {wanted}"
        for name, wanted in (
            ("TOKENS_PER_MINUTE", "a number of tokens, or 0 for no limit"),
            ("TOKEN_INSTANCES", "a number of instances, at least 1"),
        )
        if env.get(name) and not env[name].isdecimal()
    ]
    if errors or not int(env.get("TOKENS_PER_MINUTE") or 0):
        return errors
    if world == "cloud" and not env.get("TOKEN_INSTANCES"):
        return ["TOKEN_INSTANCES is missing: so many instances may share TOKENS_PER_MINUTE"]
    if env.get("TOKEN_INSTANCES") and not int(env["TOKEN_INSTANCES"]):
        return ["TOKEN_INSTANCES='0': want a number of instances, at least 1"]
    return []


def _is_score(text: str) -> bool:
    return re.fullmatch(r"\d{1,2}(\.\d+)?", text) is not None and 0 < float(text) <= 10


def _find_cloud_run_errors(env: Mapping[str, str], world: str) -> list[str]:
    """List what serves tests alone, and what is missing there."""
    if world != "cloud":
        return ["KEEPSAKE_WORLD=embedded cannot run on Cloud Run: set KEEPSAKE_WORLD=cloud"]
    errors = [
        f"{name} {reason}: unset it on Cloud Run"
        for name, reason in _FOR_TESTS.items()
        if env.get(name)
    ]
    return errors + [
        f"{name} is missing: on Cloud Run nothing is guessed"
        for name in ("GOOGLE_CLOUD_PROJECT", "TOOL_PROXY_URL", "PSEUDONYM_KEY")
        if not env.get(name)
    ]


def _find_sign_in_errors(env: Mapping[str, str]) -> list[str]:
    errors = []
    if not re.fullmatch(r"[!-~]*", env.get("LOCAL_KEY", "")):
        errors.append(
            "LOCAL_KEY: use ASCII letters, digits and signs, without spaces: it is sent in a header"
        )
    if env.get("KEEPSAKE_PASSWORD") and env.get("PASSWORD_FILE"):
        errors.append("PASSWORD_FILE: KEEPSAKE_PASSWORD is set too: unset one of them")
    if not is_id(env.get("KEEPSAKE_USER") or "me"):
        errors.append(
            f"KEEPSAKE_USER={env['KEEPSAKE_USER']!r}: use 1 to 64 letters, digits, _ or -"
        )
    errors += [
        f"TRUSTED_PROXIES: {proxy!r} is no address or network such as 127.0.0.1 or 172.16.0.0/12"
        for proxy in _parse_list(env.get("TRUSTED_PROXIES", ""))
        if not _is_network(proxy)
    ]
    return errors


def _is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


def _find_model_errors(env: Mapping[str, str]) -> list[str]:
    roles = {f"MODEL_{role.upper()}" for role in DEFAULT_MODELS}
    errors = [
        f"{name}: unknown model role; known are {', '.join(sorted(roles))}"
        for name in env
        if name.startswith("MODEL_") and name not in roles and name not in _WINDOW_ROLES
    ]
    errors += [
        f"{name}={env[name]!r}: want a number of tokens, at least {MIN_WINDOW_TOKENS}"
        for name in _WINDOW_ROLES
        if env.get(name) and not _is_window(env[name])
    ]
    errors += [
        f"FALLBACK_MODELS: unknown model role {role!r}; known are {', '.join(_FALLBACK_ROLES)}"
        for role in _parse_pairs(env.get("FALLBACK_MODELS", ""))
        if role not in _FALLBACK_ROLES
    ]
    errors += [
        f"TOKEN_PRICES: {item!r}: want model=input/cached/output in US dollars per million tokens,"
        " such as gpt-6-sol=2/0.2/10"
        for item in _parse_list(env.get("TOKEN_PRICES", ""))
        if not _is_token_price(item)
    ]
    if env.get("FALLBACK_BASE_URL") and not env.get("FALLBACK_API_KEY"):
        errors.append("FALLBACK_API_KEY is missing: FALLBACK_BASE_URL is sent no other key")
    return errors


def _is_token_price(item: str) -> bool:
    model, _, price = item.partition("=")
    try:
        parse_token_price(price)
    except ValueError:
        return False
    return bool(model)


def _is_window(text: str) -> bool:
    return text.isdecimal() and int(text) >= MIN_WINDOW_TOKENS


def _find_account_errors(env: Mapping[str, str]) -> list[str]:
    configured_providers = [name for name in _PROVIDERS if env.get(f"{name}_CLIENT_ID")]
    errors = [
        f"{name}_CLIENT_SECRET is missing: {name}_CLIENT_ID is of no use without it"
        for name in configured_providers
        if not env.get(f"{name}_CLIENT_SECRET")
    ]
    if configured_providers and env.get("KEEPSAKE_WORLD") == "cloud":
        errors += [
            f"{name} is missing: accounts cannot be connected without it"
            for name in ("PUBLIC_URL", "KMS_KEY")
            if not env.get(name)
        ]
    if env.get("WEB_SEARCH", "") not in ("", "perplexity"):
        errors.append(f"WEB_SEARCH={env['WEB_SEARCH']!r}: want perplexity, or none")
    if not _is_harm_limit(env.get("HARM_LIMIT", "")):
        errors.append(f"HARM_LIMIT={env['HARM_LIMIT']!r}: want a number from 0 to 10, or off")
    if env.get("LINK_CHECKS", "on") not in ("", "on", "off"):
        errors.append(f"LINK_CHECKS={env['LINK_CHECKS']!r}: want on or off")
    return errors
