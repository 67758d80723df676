"""What the environment may not say."""

import pytest

from shared.domain.connection import OauthClient
from shared.settings import MODELS, Settings, SettingsError


def test_unsigned_tokens_of_the_auth_emulator_are_never_let_in_on_cloud_run() -> None:
    environment = {
        "KEEPSAKE_WORLD": "cloud",
        "K_SERVICE": "chat",
        "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099",
    }

    with pytest.raises(SettingsError, match="FIREBASE_AUTH_EMULATOR_HOST"):
        Settings.from_env(environment)


def test_what_the_cloud_cannot_guess_is_asked_for_on_cloud_run() -> None:
    with pytest.raises(SettingsError) as told:
        Settings.from_env({"KEEPSAKE_WORLD": "cloud", "K_SERVICE": "chat"})

    assert [line.split(" ")[0] for line in str(told.value).splitlines()] == [
        "GOOGLE_CLOUD_PROJECT",
        "TOOL_PROXY_URL",
    ]


def test_a_function_may_be_called_by_another_audience_than_its_name() -> None:
    url = "https://on-conversation-written-1.us-central1.run.app"
    settings = Settings.from_env({"SERVICE_AUDIENCES": f"on_conversation_written={url}"})

    assert settings.service_audiences == {"on_conversation_written": url}


@pytest.mark.parametrize("name", ["SERVICE_AUDIENCES", "FUNCTION_URLS"])
def test_what_stands_without_its_function_is_told(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.from_env({name: "https://somewhere.example"})


def test_a_task_s_target_has_its_url_and_an_unknown_one_is_told() -> None:
    url = "https://deliver-notification-1.us-central1.run.app"
    settings = Settings.from_env({"FUNCTION_URLS": f"deliver_notification={url}"})

    assert settings.function_url("deliver_notification") == url
    with pytest.raises(SettingsError, match="FUNCTION_URLS names no url of close_run"):
        settings.function_url("close_run")


def test_the_auth_emulator_may_be_used_elsewhere() -> None:
    environment = {"KEEPSAKE_WORLD": "cloud", "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:9099"}

    assert Settings.from_env(environment).world == "cloud"


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as told:
        Settings.from_env({"KEEPSAKE_WORLD": "moon", "PORT": "x", "MODEL_GURU": "m"})

    assert [line.split("=")[0].split(":")[0] for line in str(told.value).splitlines()] == [
        "KEEPSAKE_WORLD",
        "PORT",
        "MODEL_GURU",
    ]


def test_p19_every_role_has_its_model() -> None:
    assert Settings.from_env({}).models == {
        "fast": "gpt-4.1-mini",
        "standard": "gpt-4.1",
        "agent": "gpt-5.1",
        "embeddings": "text-embedding-3-large",
        "persona": "google/gemini-flash-1.5-8b",
        "persona_premium": "anthropic/claude-3.5-sonnet",
    }


@pytest.mark.parametrize("role", MODELS)
def test_p19_each_role_can_be_given_another_model(role: str) -> None:
    models = Settings.from_env({f"MODEL_{role.upper()}": "mine"}).models

    assert models == {**MODELS, role: "mine"}


def test_p19_an_unknown_role_fails_at_start() -> None:
    with pytest.raises(
        SettingsError, match=r"^MODEL_GURU: unknown model role; known are MODEL_AGENT"
    ):
        Settings.from_env({"MODEL_GURU": "m"})


def test_c57_no_model_stands_in_for_another_unless_it_is_told() -> None:
    assert Settings.from_env({}).fallback_models == {}


def test_c57_a_role_can_be_given_a_stand_in_at_another_provider() -> None:
    settings = Settings.from_env(
        {
            "FALLBACK_MODELS": "agent=gpt-4.1, persona=mistral-small",
            "FALLBACK_BASE_URL": "https://models.example/v1",
            "FALLBACK_API_KEY": "theirs",
        }
    )

    assert settings.fallback_models == {"agent": "gpt-4.1", "persona": "mistral-small"}
    assert (settings.fallback_base_url, settings.fallback_api_key) == (
        "https://models.example/v1",
        "theirs",
    )


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"FALLBACK_MODELS": "gpt-4.1"}, "FALLBACK_MODELS: want role=model"),
        ({"FALLBACK_MODELS": "guru=m"}, "FALLBACK_MODELS: unknown model role 'guru'"),
        ({"FALLBACK_MODELS": "embeddings=m"}, "unknown model role 'embeddings'"),
        ({"FALLBACK_BASE_URL": "https://models.example"}, "FALLBACK_API_KEY is missing"),
    ],
)
def test_c57_a_stand_in_that_cannot_be_asked_fails_at_start(
    environment: dict[str, str], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings.from_env(environment)


def test_c58_an_embedder_is_one_of_two_or_none() -> None:
    assert Settings.from_env({}).embedder is None
    assert Settings.from_env({"EMBEDDER": "local"}).embedder == "local"
    with pytest.raises(SettingsError, match="EMBEDDER='elsewhere'"):
        Settings.from_env({"EMBEDDER": "elsewhere"})


GOOGLE = {"GOOGLE_CLIENT_ID": "us", "GOOGLE_CLIENT_SECRET": "secret"}


def test_p6_a_provider_is_set_up_by_its_client() -> None:
    settings = Settings.from_env({**GOOGLE, "PERPLEXITY_API_KEY": "pplx", "PORT": "9000"})

    assert settings.oauth_clients == {
        "google": OauthClient(id="us", secret="secret"),
        "perplexity": OauthClient(id="", secret="pplx"),
    }
    assert settings.public_url == "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"X_CLIENT_ID": "us"}, "X_CLIENT_SECRET is missing"),
        ({"WEB_SEARCH": "1"}, "WEB_SEARCH='1': want perplexity, or none"),
        ({**GOOGLE, "KEEPSAKE_WORLD": "cloud", "KMS_KEY": "k"}, "PUBLIC_URL is missing"),
        ({**GOOGLE, "KEEPSAKE_WORLD": "cloud", "PUBLIC_URL": "u"}, "KMS_KEY is missing"),
    ],
)
def test_p6_accounts_that_could_not_be_connected_fail_at_start(
    environment: dict[str, str], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings.from_env(environment)
