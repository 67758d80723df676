"""`make run MODEL=…`: what cannot be served is refused in one line, without a trace of the attempt."""

from pathlib import Path

import pytest

from infra.emulators.process import HOST
from tests.e2e.product import run_refused_start
from tests.infra.model_server.gguf_files import store_model


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            "/nowhere/model.gguf",
            "there is no such file: name a GGUF file, or a model as owner/name",
        ),
        ("a b", "there is no such file: name a GGUF file, or a model as owner/name"),
        ("docs", "this is a folder: name a GGUF file in it"),
        ("README.md", "README.md is no whole GGUF file: it does not begin like one"),
        ("owner/name", f"no such model can be fetched: there is no connection to {HOST}"),
    ],
)
def test_a_model_that_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path, model: str, reason: str
) -> None:
    settings = {"MODEL": model, "HF_ENDPOINT": f"http://{HOST}:9", "MODELS_DIR": str(tmp_path)}

    code, message = run_refused_start(tmp_path, **settings)

    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith(f"keepsake: MODEL={model}: ")
    assert reason in message


def test_a_server_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    model = str(store_model(tmp_path))

    refusal = run_refused_start(tmp_path, MODEL=model, LLAMA_SERVER="/nowhere/llama-server")

    assert refusal == (
        2,
        f"keepsake: MODEL={model}: LLAMA_SERVER=/nowhere/llama-server: there is no such file\n",
    )


def test_a_server_that_ends_at_once_is_told_with_its_last_error(tmp_path: Path) -> None:
    model = str(store_model(tmp_path))

    code, message = run_refused_start(tmp_path, MODEL=model, LLAMA_SERVER="/bin/false")

    assert (code, message.count("\n")) == (2, 1)
    assert "the model server ended while it loaded the model: it said nothing" in message
    assert not (tmp_path / "model_server.key").exists()


def test_a_model_of_ones_own_beside_a_key_is_refused(tmp_path: Path) -> None:
    model = str(store_model(tmp_path))

    refusal = run_refused_start(tmp_path, MODEL=model, OPENAI_API_KEY="sk-1")

    assert refusal == (
        2,
        f"keepsake: MODEL={model}: OPENAI_API_KEY sets another model: unset one of them\n",
    )
