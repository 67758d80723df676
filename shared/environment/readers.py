"""Readers of the settings that take more than a line."""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from math import inf
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from shared.domain.account.quota import CLOUD_LIMITS, EMBEDDED_LIMITS, QuotaName
from shared.domain.apps.connection import OauthClient
from shared.domain.chats.safety import SafetyThresholds
from shared.domain.files.wearable_name import WearableName
from shared.domain.ids import is_id
from shared.domain.store.omi_level import OmiLevel
from shared.environment.variables import (
    UNSENDABLE,
    Environment,
    Reader,
    address,
    choice,
    each,
    is_cloud,
    is_sendable,
    items,
    key,
    number,
    parse_if,
    parse_items,
    parse_number,
    parse_pairs,
    read_all,
    refuse,
    variable,
)

World = Literal["embedded", "cloud"]

DEFAULT_HARM_LIMIT = 7.0
"""From here on, of 0 to 10, an answer is written again."""
MAX_HARM = 10.0
MIN_KEY_CHARS = 32
WEARABLE_ADDRESSES: Mapping[WearableName, str] = {
    "limitless": "https://api.limitless.ai",
    "omi": "https://api.omi.me",
    "bee": "https://api.bee.computer",
}
_PROVIDERS = ("GOOGLE", "WHOOP", "NOTION", "X", "GITHUB", "PERPLEXITY")
"""OAuth providers, and services called with our own API key."""
_FOR_TESTS = {
    "FIREBASE_AUTH_EMULATOR_HOST": "lets unsigned tokens in",
    "GOOGLE_STAND_INS": "names servers without TLS",
}
_QUOTAS: Mapping[QuotaName, str] = {name: f"QUOTA_{name.upper()}" for name in EMBEDDED_LIMITS}
_THRESHOLDS = {score: f"{score.upper()}_THRESHOLD" for score in ("harm", "misuse", "injection")}
"""Variables of the scores as of which a question is refused, or its answer warned."""
_WORLDS: Mapping[str, World] = {"embedded": "embedded", "cloud": "cloud"}

read_world = choice("KEEPSAKE_WORLD", _WORLDS, "want embedded or cloud", unset="embedded")


def read_entry_point(env: Environment) -> str | None:
    """Return the entry point that this process serves, as the functions framework names it; None for all."""
    return env.get("FUNCTION_TARGET")


def read_on_cloud_run(env: Environment) -> bool:
    """Tell whether we run there, where nothing serves tests and nothing is guessed."""
    if "K_SERVICE" not in env:
        return False
    if not is_cloud(env):
        raise ValueError(
            "KEEPSAKE_WORLD=embedded cannot run on Cloud Run: set KEEPSAKE_WORLD=cloud"
        )
    for_tests = [
        f"{name} {reason}: unset it on Cloud Run"
        for name, reason in _FOR_TESTS.items()
        if env.get(name)
    ]
    missing = [
        f"{name} is missing: on Cloud Run nothing is guessed"
        for name in ("GOOGLE_CLOUD_PROJECT", "TOOL_PROXY_URL", "PSEUDONYM_KEY")
        if not env.get(name)
    ]
    refuse(for_tests + missing)
    return True


read_port = number("PORT", 8080, "want a number up to 65535", most=65_535)


def read_public_url(env: Environment) -> str:
    """Read the address of the console, without a slash at its end."""
    own = f"http://127.0.0.1:{read_port(env)}"
    return address("PUBLIC_URL", own, "https://keep.example.org")(env).rstrip("/")


def _parse_origins(text: str) -> tuple[str, ...]:
    origins = parse_items(text)
    if not all(re.fullmatch(r"https?://[^\s/?#@]+|\*", origin) for origin in origins):
        raise ValueError(text)
    return origins


read_cors_origins: Reader[tuple[str, ...]] = variable(
    "CORS_ORIGINS",
    _parse_origins,
    (),
    "want origins such as https://app.example.org, without a path, separated by commas",
)


def read_local_key(env: Environment) -> str | None:
    return variable(
        "LOCAL_KEY",
        parse_if(is_sendable),
        None,
        UNSENDABLE,
        shows_text=False,
    )(env)


read_user = variable("KEEPSAKE_USER", parse_if(is_id), "me", "use 1 to 64 letters, digits, _ or -")


def read_password_file(env: Environment) -> Path | None:
    if env.get("KEEPSAKE_PASSWORD") and env.get("PASSWORD_FILE"):
        raise ValueError("PASSWORD_FILE: KEEPSAKE_PASSWORD is set too: unset one of them")
    return variable("PASSWORD_FILE", Path, None)(env)


def read_trusted_proxies(env: Environment) -> tuple[str, ...]:
    proxies = items("TRUSTED_PROXIES")(env)
    refuse(
        [
            f"TRUSTED_PROXIES: {proxy!r} is no address or network such as 127.0.0.1 or"
            " 172.16.0.0/12"
            for proxy in proxies
            if not _is_network(proxy)
        ]
    )
    return proxies


def _is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


def read_dev_origins(env: Environment) -> tuple[str, ...]:
    if is_cloud(env) and env.get("EGRESS_DEV_ORIGINS"):
        raise ValueError("EGRESS_DEV_ORIGINS is for development only: unset it in the cloud")
    return items("EGRESS_DEV_ORIGINS")(env)


def keys(name: str) -> Reader[tuple[str, ...]]:
    return variable(
        name,
        _parse_keys,
        (),
        f"want keys of at least {MIN_KEY_CHARS} characters, separated by commas",
        shows_text=False,
    )


def _parse_keys(text: str) -> tuple[str, ...]:
    keys = parse_items(text)
    if any(len(key) < MIN_KEY_CHARS for key in keys):
        raise ValueError(text)
    return keys


def read_web_push_key(env: Environment) -> str | None:
    return variable(
        "WEB_PUSH_KEY",
        parse_if(lambda key: len(key) >= MIN_KEY_CHARS),
        None,
        f"want a text of at least {MIN_KEY_CHARS} characters",
        shows_text=False,
    )(env)


def read_omi_secret(env: Environment) -> str | None:
    return variable(
        "OMI_ENCRYPTION_SECRET",
        parse_if(lambda secret: len(secret.encode()) >= MIN_KEY_CHARS),
        None,
        f"want the ENCRYPTION_SECRET of Omi's backend, of at least {MIN_KEY_CHARS} bytes",
        shows_text=False,
    )(env)


def read_omi_documents(env: Environment) -> OmiLevel | None:
    """Read at which of Omi's levels conversations are stored; to encrypt, its secret is needed."""
    levels: Mapping[str, OmiLevel | None] = {
        "": None,
        "standard": "standard",
        "enhanced": "enhanced",
    }
    level = choice("OMI_DOCUMENTS", levels, "want standard or enhanced, or none")(env)
    if level == "enhanced" and not env.get("OMI_ENCRYPTION_SECRET"):
        raise ValueError("OMI_DOCUMENTS='enhanced': OMI_ENCRYPTION_SECRET is missing")
    return level


def read_oauth_clients(env: Environment) -> Mapping[str, OauthClient]:
    """Read our OAuth client at each provider; an API key of ours is stored as its secret."""
    without_secret = [name for name in _PROVIDERS if not env.get(f"{name}_CLIENT_SECRET")]
    api_keys, errors = read_all({name: key(f"{name}_API_KEY") for name in without_secret}, env)
    refuse([*_find_account_errors(env), *errors])
    return {
        name.lower(): OauthClient(
            id=env.get(f"{name}_CLIENT_ID", ""),
            secret=env.get(f"{name}_CLIENT_SECRET") or api_keys.get(name) or "",
            base_url=address(f"{name}_BASE_URL", None, "http://127.0.0.1:9100")(env),
        )
        for name in _PROVIDERS
        if env.get(f"{name}_CLIENT_ID") or api_keys.get(name)
    }


def read_wearable_addresses(env: Environment) -> Mapping[WearableName, str]:
    """Read where the API of each wearable is: another address may be a server of one's own."""
    return {
        name: address(f"{name.upper()}_BASE_URL", usual, "http://127.0.0.1:9100")(env) or usual
        for name, usual in WEARABLE_ADDRESSES.items()
    }


def _find_account_errors(env: Environment) -> list[str]:
    providers = [name for name in _PROVIDERS if env.get(f"{name}_CLIENT_ID")]
    without_secret = [
        f"{name}_CLIENT_SECRET is missing: {name}_CLIENT_ID is of no use without it"
        for name in providers
        if not env.get(f"{name}_CLIENT_SECRET")
    ]
    if not (providers and is_cloud(env)):
        return without_secret
    return without_secret + [
        f"{name} is missing: accounts cannot be connected without it"
        for name in ("PUBLIC_URL", "KMS_KEY")
        if not env.get(name)
    ]


def read_harm_limit(env: Environment) -> float:
    sentence = "want a number from 0 to 10, or off"
    return variable("HARM_LIMIT", _parse_harm_limit, DEFAULT_HARM_LIMIT, sentence)(env)


def _parse_harm_limit(text: str) -> float:
    if text == "off":
        return inf
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) or float(text) > MAX_HARM:
        raise ValueError(text)
    return float(text)


def read_quotas(env: Environment) -> Mapping[QuotaName, int]:
    """Read the limit of each quota; 0 switches it off."""
    defaults = CLOUD_LIMITS if is_cloud(env) else EMBEDDED_LIMITS
    limits = each(_QUOTAS, parse_number(), "want a number, or 0 for no limit")(env)
    return {name: limit for name, limit in {**defaults, **limits}.items() if limit}


def read_thresholds(env: Environment) -> SafetyThresholds:
    scores = each(_THRESHOLDS, _parse_score, "want a score above 0 and up to 10, such as 7.5")(env)
    return SafetyThresholds(**scores)


def _parse_score(text: str) -> float:
    if not (re.fullmatch(r"\d{1,2}(\.\d+)?", text) and 0 < float(text) <= 10):
        raise ValueError(text)
    return float(text)


def read_collector(env: Environment) -> str | None:
    """Read where traces are sent, without a slash at its end."""
    return variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        _parse_collector,
        None,
        "want the address of a collector, such as http://127.0.0.1:4318",
        shows_text=False,
    )(env)


def _parse_collector(text: str) -> str:
    endpoint = urlsplit(text)
    if not (endpoint.scheme in ("http", "https") and endpoint.hostname):
        raise ValueError(text)
    return text.rstrip("/")


def _parse_headers(text: str) -> Mapping[str, str]:
    headers = parse_pairs(text)
    if not re.fullmatch("[ -~]*", "".join([*headers, *headers.values()])):
        raise ValueError(text)
    return headers


read_collector_headers: Reader[Mapping[str, str]] = variable(
    "OTEL_EXPORTER_OTLP_HEADERS",
    _parse_headers,
    {},
    "want name=value of headers, separated by commas, in ASCII",
    shows_text=False,
)


def read_trace_share(env: Environment) -> float:
    return variable(
        "OTEL_TRACES_SAMPLER_ARG",
        _parse_share,
        1.0,
        "want a share of all traces from 0 to 1, such as 0.1",
        shows_text=False,
    )(env)


def _parse_share(text: str) -> float:
    if not re.fullmatch(r"0?\.\d+|[01](\.0*)?", text):
        raise ValueError(text)
    return float(text)
