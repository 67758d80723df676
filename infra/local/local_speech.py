"""Local speech: what SPEECH=local installs before the product starts, and where the functions find it."""

from collections.abc import Mapping

from infra.model_server.errors import CannotServeModel
from infra.model_server.hub import describe_size
from infra.speech.install import install_speech
from shared.settings import Settings, SettingsError


def prepare_speech(settings: Settings) -> Mapping[str, str]:
    """Return the environment in which speech becomes text on this machine. Raises SettingsError."""
    try:
        speech = install_speech(settings)
    except CannotServeModel as error:
        raise SettingsError(
            f"SPEECH=local with SPEECH_MODEL={settings.speech_model}: {error}"
        ) from error
    size = describe_size((speech.model / "model.bin").stat().st_size)
    print(
        f"keepsake: speech becomes text on this machine · Whisper {settings.speech_model} · {size}",
        flush=True,
    )
    return {
        "SPEECH_PACKAGES": str(speech.packages.resolve()),
        "SPEECH_MODEL": str(speech.model.resolve()),
    }
