"""What the environment may not say."""

import pytest

from shared.settings import Settings, SettingsError


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


def test_an_audience_without_a_function_is_told() -> None:
    with pytest.raises(SettingsError, match="SERVICE_AUDIENCES"):
        Settings.from_env({"SERVICE_AUDIENCES": "https://somewhere.example"})


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
