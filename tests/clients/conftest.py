"""Product with one conversation, and a model whose answer the tests know."""

from collections.abc import Iterator

import pytest

from tests.e2e.product import (
    Product,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

ANSWER = "The offsite moves to Friday."


@pytest.fixture(scope="package")
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai(Script(text=ANSWER)) as server:
        yield server


@pytest.fixture(scope="package")
def product(tmp_path_factory: pytest.TempPathFactory, model: ScriptedOpenai) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with run_product(folder, **build_model_environment(model.url)) as product:
        with product.client("alice") as http:
            body = build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
            http.post("/v1/conversations", json=body).raise_for_status()
        yield product
