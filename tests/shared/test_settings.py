"""Settings: what fails at start, and with which message."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.apps.connection import OauthClient
from shared.domain.models.token_prices import DEFAULT_TOKEN_PRICES, TokenPrice
from shared.domain.store.vector_home import Shard
from shared.environment.model_readers import DEFAULT_MODELS
from shared.settings import DEFAULT_OPENAI_URL, Settings, SettingsError
from tests.fixtures.settings import RecordingEnvironment, list_settings

TEXTS = st.sampled_from(["", "0", "1", "8000", "on", "cloud", "openai", "agent=m", "0-1023=host"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FIREBASE_AUTH_EMULATOR_HOST", "127.0.0.1:9099"),
        ("GOOGLE_STAND_INS", "kms=127.0.0.1:9000"),
    ],
)
def test_what_serves_tests_alone_is_never_let_in_on_cloud_run(name: str, text: str) -> None:
    environment = {"KEEPSAKE_WORLD": "cloud", "K_SERVICE": "chat", name: text}

    with pytest.raises(SettingsError, match=f"{name} .*: unset it on Cloud Run"):
        Settings.from_env(environment)


def test_cloud_run_requires_the_settings_that_have_no_default() -> None:
    with pytest.raises(SettingsError) as error:
        Settings.from_env({"KEEPSAKE_WORLD": "cloud", "K_SERVICE": "chat"})

    assert [line.split(" ")[0] for line in str(error.value).splitlines()] == [
        "GOOGLE_CLOUD_PROJECT",
        "TOOL_PROXY_URL",
        "PSEUDONYM_KEY",
    ]


def test_a_function_can_have_an_audience_other_than_its_name() -> None:
    url = "https://on-conversation-written-1.us-central1.run.app"
    settings = Settings.from_env({"SERVICE_AUDIENCES": f"on_conversation_written={url}"})

    assert settings.service_audiences == {"on_conversation_written": url}


@pytest.mark.parametrize("name", ["SERVICE_AUDIENCES", "FUNCTION_URLS"])
def test_a_pair_without_its_function_is_an_error(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.from_env({name: "https://somewhere.example"})


def test_a_task_target_has_its_url_and_an_unknown_target_is_an_error() -> None:
    url = "https://deliver-notification-1.us-central1.run.app"
    settings = Settings.from_env({"FUNCTION_URLS": f"deliver_notification={url}"})

    assert settings.get_function_url("deliver_notification") == url
    with pytest.raises(SettingsError, match="FUNCTION_URLS names no url of close_run"):
        settings.get_function_url("close_run")


def test_the_auth_emulator_may_be_used_elsewhere() -> None:
    environment = {"KEEPSAKE_WORLD": "cloud", "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099"}

    assert Settings.from_env(environment).world == "cloud"


def test_all_errors_are_reported_at_once() -> None:
    with pytest.raises(SettingsError) as error:
        Settings.from_env({"KEEPSAKE_WORLD": "moon", "PORT": "x", "MODEL_GURU": "m"})

    assert [line.split("=")[0].split(":")[0] for line in str(error.value).splitlines()] == [
        "KEEPSAKE_WORLD",
        "PORT",
        "MODEL_GURU",
    ]


@given(st.dictionaries(st.sampled_from(sorted(list_settings())), TEXTS | st.text()))
def test_every_environment_is_read_or_refused_by_lines_that_name_their_variables(
    variables: dict[str, str],
) -> None:
    environment = RecordingEnvironment(variables)

    try:
        Settings.from_env(environment)
    except SettingsError as error:
        names = {re.split("[ =:]", line)[0] for line in str(error).splitlines()}
        assert names
        assert names <= environment.asked


def test_what_is_wrong_with_one_variable_is_said_once() -> None:
    """Others may depend on it: the console's address on the port, the instances on their budget."""
    with pytest.raises(SettingsError) as error:
        Settings.from_env({"PORT": "x", "TOKENS_PER_MINUTE": "many"})

    assert [line.split("=")[0] for line in str(error.value).splitlines()] == [
        "PORT",
        "TOKENS_PER_MINUTE",
    ]


def test_every_role_has_its_model_p19() -> None:
    assert Settings.from_env({}).models == {
        "fast": "gpt-6-luna",
        "reader": "gpt-6-luna",
        "standard": "gpt-6-luna",
        "agent": "gpt-6-sol",
        "embeddings": "text-embedding-3-large",
        "persona": "google/gemini-3.5-flash-lite",
        "persona_premium": "anthropic/claude-sonnet-5.5",
    }


@pytest.mark.parametrize("role", sorted(DEFAULT_MODELS.keys() - {"standard"}))
def test_each_role_can_be_given_another_model_p19(role: str) -> None:
    models = Settings.from_env({f"MODEL_{role.upper()}": "mine"}).models

    assert models == {**DEFAULT_MODELS, role: "mine"}


def test_who_names_a_standard_model_and_no_reader_has_that_one_read_d5() -> None:
    assert Settings.from_env({"MODEL_STANDARD": "mine"}).models["reader"] == "mine"
    models = Settings.from_env({"MODEL_STANDARD": "mine", "MODEL_READER": "small"}).models
    assert (models["standard"], models["reader"]) == ("mine", "small")


OTHER_SERVER = {"OPENAI_BASE_URL": "https://models.example/v1"}


@pytest.mark.parametrize("variable", ["FLEX_PROCESSING", "CACHE_MARKS"])
@pytest.mark.parametrize(
    ("environment", "switch", "is_used"),
    [
        ({}, "", True),
        ({"OPENAI_BASE_URL": f"{DEFAULT_OPENAI_URL}/"}, "auto", True),
        (OTHER_SERVER, "", False),
        (OTHER_SERVER, "on", True),
        ({}, "off", False),
    ],
)
def test_what_only_openai_knows_is_asked_of_it_alone_unless_that_is_switched_d5(
    environment: dict[str, str], switch: str, variable: str, *, is_used: bool
) -> None:
    settings = Settings.from_env({**environment, variable: switch})

    ask = {"FLEX_PROCESSING": settings.uses_flex, "CACHE_MARKS": settings.marks_prefixes}
    assert ask[variable](settings.openai_base_url) is is_used


def test_a_budget_of_tokens_is_read_with_the_instances_that_share_it_d5() -> None:
    settings = Settings.from_env({"TOKENS_PER_MINUTE": "2000000", "TOKEN_INSTANCES": "140"})

    assert (settings.tokens_per_minute, settings.token_instances) == (2_000_000, 140)
    assert Settings.from_env({"TOKEN_INSTANCES": "140"}).tokens_per_minute == 0


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({"TOKENS_PER_MINUTE": "many"}, "TOKENS_PER_MINUTE='many': want a number of tokens"),
        ({"TOKEN_INSTANCES": "-1"}, "TOKEN_INSTANCES='-1': want a number of instances"),
        ({"TOKENS_PER_MINUTE": "9", "TOKEN_INSTANCES": "0"}, "TOKEN_INSTANCES='0': want"),
        ({"TOKENS_PER_MINUTE": "9", "KEEPSAKE_WORLD": "cloud"}, "TOKEN_INSTANCES is missing"),
    ],
)
def test_a_budget_that_cannot_be_shared_fails_at_start_d5(
    environment: dict[str, str], line: str
) -> None:
    with pytest.raises(SettingsError, match=f"^{line}"):
        Settings.from_env(environment)


def test_an_unknown_role_fails_at_start_p19() -> None:
    with pytest.raises(
        SettingsError, match=r"^MODEL_GURU: unknown model role; known are MODEL_AGENT"
    ):
        Settings.from_env({"MODEL_GURU": "m"})


def test_a_setting_that_is_empty_counts_as_not_set_p19() -> None:
    """As compose files and shells write what nobody filled in."""
    models = [f"MODEL_{role.upper()}" for role in DEFAULT_MODELS]
    urls = ["OPENAI_BASE_URL", "OPENROUTER_BASE_URL", "TOOL_PROXY_URL", "PUBLIC_URL"]
    places = ["HOST", "PORT", "DATA_DIR", "GOOGLE_CLOUD_PROJECT"]

    settings = Settings.from_env(dict.fromkeys([*models, *urls, *places], ""))

    assert settings == Settings.from_env({}) == Settings()


def test_an_embedder_without_its_key_fails_at_start_p19() -> None:
    with pytest.raises(SettingsError, match=r"^OPENAI_API_KEY is missing: EMBEDDER=openai"):
        Settings.from_env({"EMBEDDER": "openai"})


@pytest.mark.parametrize(
    "text", ["foo", "https://a.org,https://b.org/", "https://a.org/app", "a.org"]
)
def test_what_is_no_origin_fails_at_start(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^CORS_ORIGINS=.*: want origins such as https://app"):
        Settings.from_env({"CORS_ORIGINS": text})


@pytest.mark.parametrize("name", ["OPENAI", "OPENROUTER", "TRANSCRIPTION", "FALLBACK", "GOOGLE"])
@pytest.mark.parametrize("text", ["foo", "localhost:11434/v1", "http://a b"])
def test_what_is_no_address_of_a_server_fails_at_start_p19(name: str, text: str) -> None:
    accounts = {"GOOGLE_CLIENT_ID": "id", "GOOGLE_CLIENT_SECRET": "s", "FALLBACK_API_KEY": "k"}
    with pytest.raises(SettingsError, match=f"^{name}_BASE_URL: want an address such as http"):
        Settings.from_env({**accounts, f"{name}_BASE_URL": text})


def test_a_switch_that_is_neither_on_nor_off_fails_at_start_u6() -> None:
    with pytest.raises(SettingsError, match=r"^ALLOW_REMOTE='true': want 1, or nothing"):
        Settings.from_env({"ALLOW_REMOTE": "true"})


@pytest.mark.parametrize(
    ("environment", "is_alone"),
    [
        ({}, True),
        ({"ALLOW_REMOTE": "1"}, False),
        ({"KEEPSAKE_WORLD": "cloud", "PSEUDONYM_KEY": "x"}, False),
    ],
)
def test_a_deployment_serves_others_than_this_machine_t10(
    environment: dict[str, str], *, is_alone: bool
) -> None:
    assert Settings.from_env(environment).serves_this_machine_alone is is_alone


def test_origins_are_taken_as_browsers_send_them() -> None:
    settings = Settings.from_env({"CORS_ORIGINS": "https://a.org, http://localhost:3000"})

    assert settings.cors_origins == ("https://a.org", "http://localhost:3000")
    assert Settings.from_env({"CORS_ORIGINS": "*"}).cors_origins == ("*",)


def test_there_are_no_fallback_models_by_default_c57() -> None:
    assert Settings.from_env({}).fallback_models == {}


def test_a_role_can_have_a_fallback_at_another_provider_c57() -> None:
    settings = Settings.from_env(
        {
            "FALLBACK_MODELS": "agent=gpt-6-luna, persona=mistral-small",
            "FALLBACK_BASE_URL": "https://models.example/v1",
            "FALLBACK_API_KEY": "theirs",
        }
    )

    assert settings.fallback_models == {"agent": "gpt-6-luna", "persona": "mistral-small"}
    assert (settings.fallback_base_url, settings.fallback_api_key) == (
        "https://models.example/v1",
        "theirs",
    )


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"FALLBACK_MODELS": "gpt-6-luna"}, "FALLBACK_MODELS: want role=model"),
        ({"FALLBACK_MODELS": "guru=m"}, "FALLBACK_MODELS: unknown model role 'guru'"),
        (
            {"EMBEDDING_DIMENSIONS": "many"},
            "EMBEDDING_DIMENSIONS='many': want a length from 1 to 20000",
        ),
        ({"EMBEDDING_DIMENSIONS": "0"}, "EMBEDDING_DIMENSIONS='0': want a length from 1 to 20000"),
        ({"FALLBACK_MODELS": "embeddings=m"}, "unknown model role 'embeddings'"),
        ({"FALLBACK_BASE_URL": "https://models.example"}, "FALLBACK_API_KEY is missing"),
    ],
)
def test_an_unusable_fallback_fails_at_start_c57(environment: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_env(environment)


def test_traces_go_to_the_collector_that_is_set_d7() -> None:
    settings = Settings.from_env(
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://traces.example/otlp/",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=k, tenant=a=b",
            "OTEL_TRACES_SAMPLER_ARG": "0.25",
        }
    )

    assert settings.otlp_endpoint == "https://traces.example/otlp"
    assert settings.otlp_headers == {"api-key": "k", "tenant": "a=b"}
    assert settings.trace_share == 0.25
    assert Settings.from_env({}).otlp_endpoint is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "half"),
    ],
)
def test_an_unusable_collector_fails_at_start_d7(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: want "):
        Settings.from_env({name: text})


def test_prices_of_models_are_added_to_the_known_ones_d5() -> None:
    settings = Settings.from_env({"TOKEN_PRICES": "llama3=0/0/0, gpt-6-sol=1/0.1/8"})

    assert settings.token_prices["llama3"] == TokenPrice(input=0, cached=0, output=0)
    assert settings.token_prices["gpt-6-sol"] == TokenPrice(input=1, cached=0.1, output=8)
    assert settings.token_prices["gpt-6-luna"] == DEFAULT_TOKEN_PRICES["gpt-6-luna"]


@pytest.mark.parametrize("role", ["fast", "reader", "standard", "agent"])
def test_the_price_of_every_default_model_of_openai_is_known_d5(role: str) -> None:
    assert DEFAULT_MODELS[role] in DEFAULT_TOKEN_PRICES


@pytest.mark.parametrize("text", ["gpt-6-sol", "gpt-6-sol=1/2", "gpt-6-sol=cheap", "=1/2/3"])
def test_a_price_that_cannot_be_read_fails_at_start_d5(text: str) -> None:
    with pytest.raises(SettingsError, match="want model=input/cached/output in US dollars"):
        Settings.from_env({"TOKEN_PRICES": text})


@pytest.mark.parametrize(
    ("environment", "dimensions"),
    [
        ({}, 512),
        ({"EMBEDDING_DIMENSIONS": "3072"}, 3_072),
        ({"MODEL_EMBEDDINGS": "nomic-embed-text"}, None),
        ({"MODEL_EMBEDDINGS": "nomic-embed-text", "EMBEDDING_DIMENSIONS": "256"}, 256),
    ],
)
def test_models_that_shorten_their_vectors_are_asked_to_d4(
    environment: dict[str, str], dimensions: int | None
) -> None:
    assert Settings.from_env(environment).embedding_dimensions == dimensions


def test_the_encoder_of_this_machine_embeds_unless_it_is_switched_off_e1() -> None:
    assert Settings.from_env({}).embedder == "local"
    assert Settings.from_env({"EMBEDDER": "off"}).embedder == "off"
    assert Settings.from_env({"KEEPSAKE_WORLD": "cloud"}).embedder is None
    with pytest.raises(SettingsError, match="EMBEDDER='elsewhere'"):
        Settings.from_env({"EMBEDDER": "elsewhere"})


def test_masking_is_on_off_or_left_to_where_a_model_is_m101() -> None:
    assert Settings.from_env({}).masking == "auto"
    assert Settings.from_env({"MASKING": "off"}).masking == "off"
    with pytest.raises(SettingsError, match="MASKING='yes': want auto, on or off"):
        Settings.from_env({"MASKING": "yes"})


GOOGLE = {"GOOGLE_CLIENT_ID": "us", "GOOGLE_CLIENT_SECRET": "secret"}


def test_a_provider_is_set_up_by_its_client_p6() -> None:
    settings = Settings.from_env({**GOOGLE, "PERPLEXITY_API_KEY": "pplx", "PORT": "9000"})

    assert settings.oauth_clients == {
        "google": OauthClient(id="us", secret="secret"),
        "perplexity": OauthClient(id="", secret="pplx"),
    }
    assert settings.public_url == "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"X_CLIENT_ID": "us"}, "X_CLIENT_SECRET is missing"),
        ({"WEB_SEARCH": "1"}, "WEB_SEARCH='1': want perplexity, or none"),
        ({"LINK_CHECKS": "no"}, "LINK_CHECKS='no': want on or off"),
        ({"HARM_LIMIT": "high"}, "HARM_LIMIT='high': want a number from 0 to 10, or off"),
        ({"HARM_LIMIT": "11"}, "HARM_LIMIT='11': want a number from 0 to 10, or off"),
        ({"HARM_LIMIT": "-1"}, "HARM_LIMIT='-1': want a number from 0 to 10, or off"),
        ({**GOOGLE, "KEEPSAKE_WORLD": "cloud", "KMS_KEY": "k"}, "PUBLIC_URL is missing"),
        ({**GOOGLE, "KEEPSAKE_WORLD": "cloud", "PUBLIC_URL": "https://u"}, "KMS_KEY is missing"),
    ],
)
def test_accounts_that_could_not_be_connected_fail_at_start_p6(
    environment: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_env(environment)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"KEEPSAKE_PASSWORD": "p", "PASSWORD_FILE": "f"}, "KEEPSAKE_PASSWORD is set too"),
        ({"KEEPSAKE_USER": "Ann Lee"}, "KEEPSAKE_USER='Ann Lee': use 1 to 64 letters"),
        ({"TRUSTED_PROXIES": "127.0.0.1, caddy"}, "'caddy' is no address or network"),
    ],
)
def test_a_sign_in_that_could_not_work_fails_at_start_u6(
    environment: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_env(environment)


@pytest.mark.parametrize("text", ["two words", "Schlüssel", "line\n"])
def test_a_key_that_no_header_can_carry_is_an_error_s9(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^LOCAL_KEY: use ASCII"):
        Settings.from_env({"LOCAL_KEY": text})


HEADER_KEYS = [
    "OPENAI_API_KEY",
    "FALLBACK_API_KEY",
    "OPENROUTER_API_KEY",
    "TRANSCRIPTION_API_KEY",
    "PINECONE_API_KEY",
    "PERPLEXITY_API_KEY",
]


def read_key(name: str, text: str) -> str | None:
    """Read a key where whatever else needs it is set."""
    settings = Settings.from_env({name: text, "WEB_SEARCH": "perplexity"})
    if name == "PERPLEXITY_API_KEY":
        client = settings.oauth_clients.get("perplexity")
        return client.secret if client else None
    key: str | None = getattr(settings, name.lower())
    return key


@given(
    name=st.sampled_from(HEADER_KEYS),
    before=st.text(" \t\r\n\xa0"),
    key=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)),
    after=st.text(" \t\r\n\xa0"),
)
def test_what_copying_left_around_a_key_is_no_part_of_it(
    name: str, before: str, key: str, after: str
) -> None:
    assert read_key(name, before + key + after) == (key or None)


@given(
    name=st.sampled_from(HEADER_KEYS),
    before=st.text("abc", min_size=1),
    odd=st.characters(max_codepoint=0x20) | st.characters(min_codepoint=0x7F),
    after=st.text("xyz", min_size=1),
)
def test_a_key_that_no_header_can_carry_fails_at_start_in_one_line_without_it(
    name: str, before: str, odd: str, after: str
) -> None:
    with pytest.raises(SettingsError) as error:
        read_key(name, f"sk-{before}{odd}{after}")

    assert str(error.value).splitlines() == [
        f"{name}: use ASCII letters, digits and signs, without spaces: it is sent in a header"
    ]


def test_space_alone_is_no_key() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY is missing"):
        Settings.from_env({"OPENAI_API_KEY": " \n", "EMBEDDER": "openai"})


@pytest.mark.parametrize("text", ["http://[::1", "http://", "http://a:b/v1", "ftp://a", "a"])
def test_an_address_that_leads_nowhere_is_an_error(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^OPENAI_BASE_URL: want an address such as"):
        Settings.from_env({"OPENAI_BASE_URL": text})


@pytest.mark.parametrize("text", ["x-key=schlüssel", "x-key=a\nb", "x-key"])
def test_headers_that_cannot_be_sent_are_an_error(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^OTEL_EXPORTER_OTLP_HEADERS: want name=value"):
        Settings.from_env({"OTEL_EXPORTER_OTLP_HEADERS": text})


def test_a_short_key_for_delegations_fails_at_start_s8() -> None:
    for name in ("TOOL_CALL_KEYS", "DISCONNECT_KEYS"):
        with pytest.raises(SettingsError, match=f"{name}: want keys of at least 32 characters"):
            Settings.from_env({name: f"{'k' * 32},short"})


def test_a_short_key_of_web_push_fails_at_start_u7() -> None:
    with pytest.raises(SettingsError, match="WEB_PUSH_KEY: want a text of at least 32 characters"):
        Settings.from_env({"WEB_PUSH_KEY": "short"})


def test_two_keys_for_delegations_are_kept_in_their_order_s8() -> None:
    settings = Settings.from_env({"TOOL_CALL_KEYS": f"{'n' * 32},{'o' * 32}"})

    assert settings.tool_call_keys == ("n" * 32, "o" * 32)


def test_embedded_quotas_admit_twenty_thousand_turns_and_two_gigabytes_s5() -> None:
    quotas = Settings.from_env({}).quotas

    assert quotas["turns"] >= 20_000
    assert quotas["ingested_bytes"] >= 2 * 1024**3


def test_a_quota_is_set_or_switched_off_by_its_variable_s5() -> None:
    environment = {"QUOTA_TURNS": "3", "QUOTA_TOKENS": "0", "QUOTA_FOLLOWERS": ""}
    quotas = Settings.from_env(environment).quotas

    assert (quotas["turns"], "tokens" in quotas) == (3, False)
    assert quotas["followers"] == EMBEDDED_LIMITS["followers"]


def test_a_quota_that_is_no_number_fails_at_start_s5() -> None:
    with pytest.raises(SettingsError, match="QUOTA_TURNS='many': want a number"):
        Settings.from_env({"QUOTA_TURNS": "many"})


def test_the_window_of_a_role_can_be_set_x8():
    assert Settings.from_env({"MODEL_AGENT_WINDOW": "64000"}).model_windows == {"agent": 64_000}
    with pytest.raises(SettingsError, match="MODEL_AGENT_WINDOW='8': want a number of tokens"):
        Settings.from_env({"MODEL_AGENT_WINDOW": "8"})


def test_ranges_of_buckets_have_hosts_of_their_own_d4() -> None:
    shards = Settings.from_env(
        {
            "PINECONE_SPARSE_HOSTS": "0-511=sparse-a, 512-1023=sparse-b",
            "PINECONE_DENSE_HOSTS": "512-1023=dense-b,0-511=dense-a",
            "PINECONE_SPARSE_HOST": "not read",
        }
    ).pinecone_shards

    assert shards == (
        Shard(first=0, last=511, sparse_host="sparse-a", dense_host="dense-a"),
        Shard(first=512, last=1_023, sparse_host="sparse-b", dense_host="dense-b"),
    )


def test_one_host_has_all_buckets_d4() -> None:
    settings = Settings.from_env({"PINECONE_SPARSE_HOST": "s", "PINECONE_DENSE_HOST": "d"})

    assert settings.pinecone_shards == (
        Shard(first=0, last=1_023, sparse_host="s", dense_host="d"),
    )
    assert Settings.from_env({}).pinecone_shards == ()


@pytest.mark.parametrize(
    "text",
    [
        "host",
        "0-1022=a",
        "0-512=a,512-1023=b",
        "0-511=a,513-1023=b",
        "0-1024=a",
        "9-0=a,0-1023=b",
        "0-1023=",
        "0-511=a,0-511=b,512-1023=c",
        "0-511=a,00-511=b,512-1023=c",
    ],
)
def test_every_bucket_has_one_host_d4(text: str) -> None:
    with pytest.raises(SettingsError, match="PINECONE_SPARSE_HOSTS: want first-last=host"):
        Settings.from_env({"PINECONE_SPARSE_HOSTS": text})


def test_both_indexes_have_the_same_ranges_d4() -> None:
    with pytest.raises(SettingsError, match="PINECONE_DENSE_HOSTS: want the same ranges"):
        Settings.from_env(
            {"PINECONE_SPARSE_HOSTS": "0-511=a,512-1023=b", "PINECONE_DENSE_HOST": "d"}
        )


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ({"OMI_ENCRYPTION_SECRET": "short"}, "OMI_ENCRYPTION_SECRET: want the ENCRYPTION_SECRET"),
        (
            {"OMI_DOCUMENTS": "enhanced"},
            "OMI_DOCUMENTS='enhanced': OMI_ENCRYPTION_SECRET is missing",
        ),
        ({"OMI_DOCUMENTS": "plain"}, "OMI_DOCUMENTS='plain': want standard or enhanced, or none"),
    ],
)
def test_omis_secret_is_long_enough_and_there_where_it_is_needed_l4(
    env: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=f"^{sentence}"):
        Settings.from_env(env)
