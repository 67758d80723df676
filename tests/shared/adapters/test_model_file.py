"""Model file: what a damaged one leads to."""

import logging
from pathlib import Path

import pytest

from shared.adapters.embedded.model_file import NAME, ModelFile, ModelSetup

SETUP = ModelSetup(
    kind="openai", base_url="https://model.test/v1", api_key="sk-1", model="m", small_model="s"
)


@pytest.mark.parametrize(
    "content", ['{"kind": "op', '{"kind": "openai", "api_key": "sk-secret"}', ""], ids=len
)
def test_a_damaged_file_counts_as_none_and_its_content_is_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    (tmp_path / NAME).write_text(content)
    file = ModelFile(tmp_path)

    with caplog.at_level(logging.WARNING):
        assert file.load() is None

    assert "model_file_damaged" in caplog.text
    assert "sk-secret" not in caplog.text
    file.store(SETUP)
    assert file.load() == SETUP
