"""Facts that servers tell of their models: each server's own form, and whatever is none (N2, X8)."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models.known_models import KnownModel
from shared.models.server_facts import (
    NOTHING_TOLD,
    Method,
    ServerFacts,
    add_facts,
    ask_server,
    find_root,
    is_listed,
    list_names,
)

BASE_URL = "http://127.0.0.1:8080/v1"
ROOT = "http://127.0.0.1:8080"
NOW = datetime(2026, 11, 28, tzinfo=UTC)


class Server:
    """Answers paths as scripted, and None elsewhere."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[Method, str]] = []

    async def fetch(self, method: Method, url: str, body: Mapping[str, Any] | None = None) -> Any:
        path = url.removeprefix(ROOT).partition("?")[0]
        self.asked.append((method, path))
        return self.answers.get(path)


async def ask(answers: Mapping[str, Any], model: str = "qwen3") -> ServerFacts:
    return await ask_server(Server(answers).fetch, BASE_URL, model)


def build_listing(**row: Any) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": [{"id": "other"}, {"id": "qwen3", **row}]}}


PROPS = {
    "/props": {
        "default_generation_settings": {"n_ctx": 8_192, "params": {}},
        "total_slots": 2,
        "modalities": {"vision": True, "audio": False},
    }
}
SHOWN = {
    "parameters": 'stop    "<|im_end|>"\ntemperature    0.6',
    "model_info": {
        "general.architecture": "qwen3",
        "general.parameter_count": 8_190_735_360,
        "qwen3.context_length": 40_960,
    },
    "capabilities": ["completion", "tools", "thinking"],
}


@pytest.mark.parametrize(
    ("answers", "facts"),
    [
        (build_listing(max_model_len=16_384), ServerFacts(window_tokens=16_384)),
        (
            build_listing(
                context_length=131_072.0,
                top_provider={"context_length": 65_536},
                architecture={"input_modalities": ["text", "image"]},
                supported_parameters=["max_tokens", "tools"],
            ),
            ServerFacts(window_tokens=65_536, takes_images=True, takes_tools=True),
        ),
        (build_listing(context_window=131_072), ServerFacts(window_tokens=131_072)),
        (
            build_listing(
                max_context_length=32_768,
                capabilities={"function_calling": False, "vision": False},
            ),
            ServerFacts(window_tokens=32_768, takes_images=False, takes_tools=False),
        ),
        (
            {"/v1/models": [{"id": "qwen3", "context_length": 8_193}]},
            ServerFacts(window_tokens=8_193),
        ),
        (
            build_listing(supports_image_input=False, supports_tools=True),
            ServerFacts(takes_images=False, takes_tools=True),
        ),
        (
            build_listing(meta={"n_ctx": 4_096, "n_ctx_train": 131_072, "n_params": 494_032_768}),
            ServerFacts(window_tokens=4_096, parameters=494_032_768),
        ),
        (build_listing(meta={"n_ctx_train": 131_072}), NOTHING_TOLD),
        (PROPS, ServerFacts(window_tokens=8_192, places=2, takes_images=True)),
    ],
    ids=[
        "vLLM",
        "OpenRouter",
        "Groq",
        "Mistral",
        "Together",
        "Fireworks",
        "llama.cpp by its list",
        "what a model was trained with is no window",
        "llama.cpp",
    ],
)
async def test_each_server_is_read_in_its_own_form(answers, facts):
    assert await ask(answers) == facts


@pytest.mark.parametrize(
    ("shown", "running", "window", "is_assumed"),
    [
        (SHOWN, {"models": []}, 4_096, True),
        ({**SHOWN, "parameters": "num_ctx    16384\ntop_k 20"}, {"models": []}, 16_384, False),
        ({**SHOWN, "parameters": "num_ctx    99999"}, {"models": []}, 40_960, False),
        (SHOWN, {"models": [{"name": "qwen3:latest", "context_length": 32_768}]}, 32_768, False),
        (SHOWN, {"models": [{"name": "qwen3:8b", "context_length": 32_768}]}, 4_096, True),
    ],
    ids=[
        "not loaded",
        "its own parameter",
        "never more than it could",
        "loaded",
        "another is loaded",
    ],
)
async def test_the_window_that_ollama_really_uses_counts(shown, running, window, is_assumed):
    facts = await ask({"/api/show": shown, "/api/ps": running})

    assert (facts.window_tokens, facts.assumes_window) == (window, is_assumed)
    assert (facts.takes_tools, facts.takes_images) == (True, False)
    assert facts.parameters == 8_190_735_360


@pytest.mark.parametrize(
    ("row", "window", "is_assumed"),
    [
        ({"state": "loaded", "loaded_context_length": 16_384}, 16_384, False),
        ({"state": "not-loaded"}, 4_096, True),
    ],
)
async def test_the_window_that_lm_studio_loaded_counts(row, window, is_assumed):
    studio = {
        "id": "qwen3",
        "type": "vlm",
        "max_context_length": 131_072,
        "capabilities": ["tool_use"],
    }
    facts = await ask({"/api/v0/models": {"data": [{**studio, **row}]}, **build_listing()})

    assert facts == ServerFacts(
        window_tokens=window, assumes_window=is_assumed, takes_images=True, takes_tools=True
    )


async def test_nothing_is_posted_to_what_is_not_ollama():
    server = Server({**PROPS, "/api/show": SHOWN})

    await ask_server(server.fetch, BASE_URL, "qwen3")

    assert {method for method, _ in server.asked} == {"GET"}


async def test_a_model_of_a_provider_is_looked_up_in_its_list_alone():
    server = Server({})

    await ask_server(server.fetch, "https://api.openai.com/v1", "gpt-6-sol")

    assert server.asked == [("GET", "https://api.openai.com/v1/models")]


@pytest.mark.parametrize(
    "told", [True, -1, 0, 17, 10**12, 4_096.5, "8192", None, [8_192], {}, 1e400]
)
async def test_an_absurd_window_is_none(told):
    props = {"/props": {"default_generation_settings": {"n_ctx": told}, "total_slots": told}}

    facts = await ask({**build_listing(max_model_len=told, context_length=told), **props})

    assert facts.window_tokens is None
    assert facts.places in (None, 17)


KEYS = ["id", "name", "model", "data", "models", "meta", "n_ctx", "context_length", "state", "aliases",
        "capabilities", "model_info", "parameters", "total_slots", "modalities", "vision", "architecture",
        "default_generation_settings", "loaded_context_length", "qwen3", "qwen3.context_length"]  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda parts: (
        st.lists(parts, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=6),
            parts,
            max_size=5,
        )
    ),
    max_leaves=20,
)
PATHS = ["/v1/models", "/props", "/api/show", "/api/ps", "/api/v0/models"]


@given(
    answers=st.fixed_dictionaries(dict.fromkeys(PATHS, JSON)),
    model=st.sampled_from(["qwen3", ""]),
)
async def test_whatever_a_server_answers_is_read_or_nothing(answers, model):
    facts = await ask(answers, model)

    assert facts.window_tokens is None or 256 <= facts.window_tokens <= 20_000_000
    assert facts.places is None or 1 <= facts.places <= 10_000
    assert all(type(getattr(facts, each.name)) in (int, bool, type(None)) for each in fields(facts))
    assert all(isinstance(name, str) for name in list_names(answers["/v1/models"]))


@pytest.mark.parametrize(
    ("base_url", "root"),
    [
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"),
        ("https://example.org/llm/v1", "https://example.org/llm"),
        ("https://example.org/v1beta/openai", "https://example.org/v1beta/openai"),
    ],
)
def test_a_servers_own_paths_begin_beside_v1(base_url, root):
    assert find_root(base_url) == root


@pytest.mark.parametrize("listed", ["qwen3", "qwen3:latest", "models/qwen3", "Qwen3"])
def test_a_list_may_call_a_model_by_more_than_its_name(listed):
    assert is_listed({"data": [{"id": listed}]}, "qwen3")
    assert not is_listed({"data": [{"id": listed}]}, "qwen3:8b")


LOADED = ServerFacts(window_tokens=16_384)
ASSUMED = ServerFacts(window_tokens=4_096, assumes_window=True)


@pytest.mark.parametrize(
    ("known", "facts", "window", "source"),
    [
        (KnownModel(), LOADED, 16_384, "server"),
        (KnownModel(), ASSUMED, 4_096, "server"),
        (KnownModel(window_tokens=16_384, window_source="server"), ASSUMED, 16_384, "server"),
        (KnownModel(window_tokens=4_096, window_source="server"), LOADED, 16_384, "server"),
        (KnownModel(window_tokens=8_192, window_source="refusal"), LOADED, 16_384, "server"),
        (KnownModel(window_tokens=8_192, window_source="refusal"), ASSUMED, 8_192, "refusal"),
        (KnownModel(window_tokens=8_192, window_source="refusal"), NOTHING_TOLD, 8_192, "refusal"),
    ],
)
def test_what_is_told_replaces_what_was_known_and_what_is_assumed_nothing(
    known, facts, window, source
):
    added = add_facts(known, facts)

    assert (added.window_tokens, added.window_source) == (window, source)


def test_what_is_not_told_stays_known():
    known = KnownModel(places=1, takes_images=True, takes_tools=False).take_steps(["no_usage"], NOW)

    assert add_facts(known, NOTHING_TOLD) == known
    assert add_facts(known, ServerFacts(takes_tools=True, places=2)).places == 2
