"""Known models file: kept over restarts, shared by processes, private, and nothing where it is damaged (N2)."""

import logging
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.adapters.embedded.known_models_file import MAX_MODELS, NAME, KnownModelsFile
from shared.models.known_models import KnownModel, KnownModels

ADDRESS = "http://127.0.0.1:11434/v1"
KEY = (ADDRESS, "qwen3")
NOW = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)
KNOWN = (
    KnownModel(window_tokens=8_192, window_source="server", places=1, takes_tools=True)
    .take_steps(["no_usage"], NOW)
    .refuse_tool("1f3a", NOW)
)


def test_what_is_known_outlives_its_process_in_a_private_file(tmp_path: Path) -> None:
    KnownModels(KnownModelsFile(tmp_path / "data")).set(KEY, KNOWN)

    assert KnownModels(KnownModelsFile(tmp_path / "data")).get(KEY) == KNOWN
    assert stat.S_IMODE((tmp_path / "data" / NAME).stat().st_mode) == 0o600


def test_two_processes_see_and_keep_what_the_other_learned(tmp_path: Path) -> None:
    first, second = (KnownModels(KnownModelsFile(tmp_path)) for _ in range(2))
    first.set(KEY, KNOWN)
    second.set((ADDRESS, "gemma"), KnownModel(places=2))
    first.set((ADDRESS, "llama"), KnownModel(places=3))

    for models in (first, second, KnownModels(KnownModelsFile(tmp_path))):
        assert models.get(KEY) == KNOWN
        assert models.get((ADDRESS, "gemma")).places == 2
        assert models.get((ADDRESS, "llama")).places == 3


@pytest.mark.parametrize(
    "content", ["", "{", "{}", "[1, null, {}]", '[{"address": "a", "name": 1}]']
)
def test_a_damaged_file_counts_as_nothing_and_is_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    models = KnownModels(KnownModelsFile(tmp_path))

    assert models.get(KEY) == KnownModel()
    models.set(KEY, KNOWN)
    assert KnownModels(KnownModelsFile(tmp_path)).get(KEY) == KNOWN


def test_an_entry_of_another_version_costs_no_other(tmp_path: Path) -> None:
    models = KnownModels(KnownModelsFile(tmp_path))
    models.set(KEY, KNOWN)
    models.set((ADDRESS, "gemma"), KNOWN)
    path = tmp_path / NAME
    path.write_text(path.read_text().replace('"no_usage"', '"a_step_of_tomorrow"', 1))

    assert models.get(KEY) == KnownModel()
    assert models.get((ADDRESS, "gemma")) == KNOWN


@pytest.mark.parametrize(
    "address", ["https://me:word@example.org/v1", "https://example.org/v1?key=word"]
)
def test_an_address_with_a_secret_is_remembered_and_never_written(
    tmp_path: Path, address: str
) -> None:
    models = KnownModels(KnownModelsFile(tmp_path))
    models.set((address, "qwen3"), KNOWN)
    models.set(KEY, KNOWN)

    assert models.get((address, "qwen3")) == KNOWN
    assert "word" not in (tmp_path / NAME).read_text()


def test_where_nothing_can_be_written_this_process_remembers_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    models = KnownModels(KnownModelsFile(tmp_path / "file"))

    with caplog.at_level(logging.WARNING):
        models.set(KEY, KNOWN)

    assert models.get(KEY) == KNOWN
    assert "known_models_not_saved" in caplog.text


def test_the_first_are_forgotten_where_there_are_too_many(tmp_path: Path) -> None:
    file = KnownModelsFile(tmp_path)
    for n in range(MAX_MODELS + 2):
        file.save((ADDRESS, str(n)), KNOWN)

    assert len(file.load()) == MAX_MODELS
    assert (ADDRESS, "1") not in KnownModelsFile(tmp_path).load()
