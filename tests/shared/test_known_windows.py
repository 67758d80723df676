"""Window of a model: by setting, else as its server told or refused, else by its name (N2, X8)."""

from pathlib import Path

import pytest

from infra.local.routing import ROOT
from shared.adapters.embedded.known_models_file import KnownModelsFile
from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.models.known_models import KnownModel, KnownModels
from shared.settings import Settings
from shared.worlds import openai_clients
from shared.worlds.embedded import EmbeddedWorld

ADDRESS = "http://127.0.0.1:11434/v1"
TOLD = KnownModel(window_tokens=8_192, window_source="server", places=1)
ENVIRONMENT = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": ADDRESS, "MODEL_AGENT": "qwen3"}


async def encode_nothing(_: UserId, __: str) -> list[float]:
    raise ModelFailed("no encoder")


def open_world(folder: Path, **environment: str) -> EmbeddedWorld:
    settings = Settings.from_env({"DATA_DIR": str(folder), **environment})
    indexes = ROOT / "infra/firestore.indexes.json"
    return EmbeddedWorld(settings, SystemClock(), {}, indexes)


@pytest.mark.parametrize(
    ("model", "known", "environment", "window"),
    [
        ("qwen3", TOLD, {"MODEL_AGENT_WINDOW": "16384"}, 16_384),
        ("qwen3", TOLD, {}, 8_192),
        ("gpt-4.1", TOLD, {}, 8_192),
        ("gpt-4.1", KnownModel(), {}, 1_047_576),
        ("nobody-knows-this:latest", KnownModel(), {}, 32_000),
        ("", KnownModel(), {}, 32_000),
    ],
)
def test_a_window_comes_from_where_it_is_known_best(
    tmp_path: Path, model: str, known: KnownModel, environment: dict[str, str], window: int
) -> None:
    setup = ModelSetup(kind="ollama", base_url=ADDRESS, api_key="x", model=model, small_model=model)
    ModelFile(tmp_path).store(setup)
    chosen = open_world(tmp_path, **environment).build_keyless_model(
        encode_nothing, is_patient=False
    )
    KnownModelsFile(tmp_path).save((ADDRESS, model), known)

    assert chosen.describe("agent").window_tokens == window
    assert chosen.describe("agent").places == known.places


def test_a_model_of_the_environment_shares_what_is_known_with_other_processes(
    tmp_path: Path,
) -> None:
    world = open_world(tmp_path)
    settings = Settings.from_env(ENVIRONMENT)
    model = openai_clients.build_model(settings, world.clock, known=world.known_models)
    KnownModels(KnownModelsFile(tmp_path)).set((ADDRESS, "qwen3"), TOLD)

    assert model.describe("agent").window_tokens == 8_192
