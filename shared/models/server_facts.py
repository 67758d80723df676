"""Facts that servers tell of their models, free of cost: window, places, size, pictures, tools.

All of it is untrusted: what is of another type, absurd, missing or late counts as not told.

- Chat Completions: `GET /models`, whose rows hold more than OpenAI documents at vLLM (`max_model_len`),
  OpenRouter (`context_length`, `architecture`, `supported_parameters`), Groq (`context_window`), Mistral
  (`max_context_length`, `capabilities`), Together, Fireworks and llama.cpp (`meta.n_ctx`, `meta.n_params`).
- llama.cpp: `GET /props` beside `/v1`: the window of each of its slots, and how many there are.
- Ollama: `POST /api/show` and `GET /api/ps`. What a model could read is not what it is loaded with.
- LM Studio: `GET /api/v0/models`, with the same difference.
"""

import re
from asyncio import gather
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

from shared.domain.models.model import UNKNOWN_MODEL
from shared.domain.models.model_facts import find_model_facts
from shared.domain.value import value
from shared.models.known_models import KnownModel

DEFAULT_LOADED_TOKENS = 4_096
"""What Ollama and LM Studio load a model with where nobody said more; Ollama on less than 24 GB of VRAM."""
_WINDOWS = range(256, 20_000_001)
_PLACES = range(1, 10_001)
_PARAMETERS = range(1_000_000, 100_000_000_000_001)
_MAX_ROWS = 10_000
_WINDOW_KEYS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "context_size",
)
"""Names of the window in a row of `/models`; of several the smallest counts."""
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


@value
class ServerFacts:
    """What a server told of one model; None where it told nothing that can be true.

    With `assumes_window` the model is not loaded, and the window is what its server gives unless told
    otherwise.
    """

    window_tokens: int | None = None
    assumes_window: bool = False
    places: int | None = None
    parameters: int | None = None
    takes_images: bool | None = None
    takes_tools: bool | None = None

    def complete(self, other: "ServerFacts") -> "ServerFacts":
        """Return these facts, and those of `other` where these are None."""
        return ServerFacts(
            window_tokens=other.window_tokens if self.window_tokens is None else self.window_tokens,
            assumes_window=other.assumes_window
            if self.window_tokens is None
            else self.assumes_window,
            places=other.places if self.places is None else self.places,
            parameters=other.parameters if self.parameters is None else self.parameters,
            takes_images=other.takes_images if self.takes_images is None else self.takes_images,
            takes_tools=other.takes_tools if self.takes_tools is None else self.takes_tools,
        )


NOTHING_TOLD = ServerFacts()
Method = Literal["GET", "POST"]


class Fetch(Protocol):
    """Asks a server for JSON, within a bounded time."""

    def __call__(
        self, method: Method, url: str, body: Mapping[str, Any] | None = None
    ) -> Awaitable[Any]:
        """Return what came, parsed; None for whatever is no JSON, no success or not in time."""


async def ask_server(fetch: Fetch, base_url: str, model: str, listing: Any = None) -> ServerFacts:
    """Ask all that a server may tell of a model; `listing` is what its `/models` said, if that was read."""
    if listing is None:
        listing = await fetch("GET", f"{base_url.rstrip('/')}/models")
    if find_model_facts(model) != UNKNOWN_MODEL and base_url.startswith("https:"):
        return read_listing(listing, model)  # a provider's own model: nothing is found beside it
    root = find_root(base_url)
    props, running, studio = await gather(
        fetch("GET", f"{root}/props?autoload=false&model={quote(model, safe='')}"),
        fetch("GET", f"{root}/api/ps"),
        fetch("GET", f"{root}/api/v0/models"),
    )
    shown = None
    if isinstance(running, Mapping) and isinstance(running.get("models"), list):
        shown = await fetch("POST", f"{root}/api/show", {"model": model})  # to Ollama alone
    facts = read_props(props)
    for told in (
        read_ollama(shown, running, model),
        read_studio(studio, model),
        read_listing(listing, model),
    ):
        facts = facts.complete(told)
    return facts


def find_root(base_url: str) -> str:
    """Return where a server's own paths begin: beside `/v1`."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def add_facts(known: KnownModel, facts: ServerFacts) -> KnownModel:
    """Add to what is known what a server told.

    What is assumed of a model that is not loaded replaces nothing. What is told replaces what a refusal
    taught, too: its server may have been started anew, and else the next refusal teaches it again.
    """
    window, source = known.window_tokens, known.window_source
    if facts.window_tokens and not (facts.assumes_window and window):
        window, source = facts.window_tokens, "server"
    return replace(
        known,
        window_tokens=window,
        window_source=source,
        places=facts.places or known.places,
        parameters=facts.parameters or known.parameters,
        takes_images=known.takes_images if facts.takes_images is None else facts.takes_images,
        takes_tools=known.takes_tools if facts.takes_tools is None else facts.takes_tools,
    )


def list_names(listing: Any) -> Sequence[str]:
    """Return the names of the models that `/models` lists."""
    return [name for row in _list_rows(listing) for name in _list_row_names(row)[:1]]


def is_listed(listing: Any, model: str) -> bool:
    """Tell whether a list may mean a model; servers add owners and tags to the names that they are asked for."""
    return _find_row(listing, model) is not None


def read_listing(listing: Any, model: str) -> ServerFacts:
    """Read the row of a model in `/models`."""
    row = _find_row(listing, model)
    if row is None:
        return NOTHING_TOLD
    meta, provider = _get_map(row, "meta"), _get_map(row, "top_provider")
    windows = [_read_number(row.get(key), _WINDOWS) for key in _WINDOW_KEYS]
    windows += [
        _read_number(meta.get("n_ctx"), _WINDOWS),
        _read_number(provider.get("context_length"), _WINDOWS),
    ]
    capabilities = _get_map(row, "capabilities")
    return ServerFacts(
        window_tokens=min(filter(None, windows), default=None),
        parameters=_read_number(meta.get("n_params"), _PARAMETERS),
        takes_images=_first_told(
            _read_flag(capabilities.get("vision")),
            _read_flag(row.get("supports_image_input")),
            _read_word_list(_get_map(row, "architecture").get("input_modalities"), "image"),
        ),
        takes_tools=_first_told(
            _read_flag(capabilities.get("function_calling")),
            _read_flag(row.get("supports_tools")),
            _read_word_list(row.get("supported_parameters"), "tools"),
        ),
    )


def read_props(props: Any) -> ServerFacts:
    """Read `/props` of llama.cpp; others may have something else there."""
    if not isinstance(props, Mapping):
        return NOTHING_TOLD
    settings = _get_map(props, "default_generation_settings")
    return ServerFacts(
        window_tokens=_read_number(settings.get("n_ctx"), _WINDOWS),
        places=_read_number(props.get("total_slots"), _PLACES),
        takes_images=_read_flag(_get_map(props, "modalities").get("vision")),
    )


def read_ollama(shown: Any, running: Any, model: str) -> ServerFacts:
    """Read `/api/show` and `/api/ps` of Ollama.

    The window is the one that it is loaded with, or that it will be: by its own parameter, else by what
    Ollama gives unless told otherwise, and never more than the model could.
    """
    if not isinstance(shown, Mapping) or not isinstance(shown.get("model_info"), Mapping):
        return NOTHING_TOLD
    loaded = _find_running(running, model)
    most = _find_trained_window(shown["model_info"])
    window, is_assumed = loaded or _read_num_ctx(shown.get("parameters")), False
    if window is None:
        window, is_assumed = DEFAULT_LOADED_TOKENS, True
    capabilities = shown.get("capabilities")
    return ServerFacts(
        window_tokens=min(window, most or window),
        assumes_window=is_assumed,
        parameters=_read_number(shown["model_info"].get("general.parameter_count"), _PARAMETERS),
        takes_images=_read_word_list(capabilities, "vision"),
        takes_tools=_read_word_list(capabilities, "tools"),
    )


def read_studio(studio: Any, model: str) -> ServerFacts:
    """Read `/api/v0/models` of LM Studio."""
    row = _find_row(studio, model)
    if row is None or not isinstance(row.get("state"), str):
        return NOTHING_TOLD
    loaded = _read_number(row.get("loaded_context_length"), _WINDOWS)
    most = _read_number(row.get("max_context_length"), _WINDOWS)
    window = loaded or min(DEFAULT_LOADED_TOKENS, most or DEFAULT_LOADED_TOKENS)
    kind = row.get("type")
    return ServerFacts(
        window_tokens=window,
        assumes_window=loaded is None,
        takes_images=kind == "vlm" if kind in ("llm", "vlm") else None,
        takes_tools=_read_word_list(row.get("capabilities"), "tool_use"),
    )


def _list_rows(listing: Any) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a list, in each form that servers give it."""
    if isinstance(listing, Mapping):
        listing = listing.get("data", listing.get("models"))
    if not isinstance(listing, list):
        return []
    return [row for row in listing[:_MAX_ROWS] if isinstance(row, Mapping)]


def _find_row(listing: Any, model: str) -> Mapping[str, Any] | None:
    """Return the row of a model: by its own name, else by one that means the same."""
    rows = _list_rows(listing)
    wanted = _simplify(model)
    exact = (row for row in rows if model in _list_row_names(row))
    alike = (row for row in rows if wanted in map(_simplify, _list_row_names(row)))
    return next(exact, None) or next(alike, None)


def _list_row_names(row: Mapping[str, Any]) -> list[str]:
    aliases = row.get("aliases")
    names = [row.get("id"), row.get("name"), row.get("model")]
    names += aliases if isinstance(aliases, list) else []
    return [name for name in names if isinstance(name, str) and name]


def _simplify(name: str) -> str:
    """Drop what servers add to a name or leave away: `models/gemini-2.5-pro`, `qwen3:latest`."""
    return name.lower().removeprefix("models/").removesuffix(":latest")


def _find_running(running: Any, model: str) -> int | None:
    row = _find_row(running, model)
    return None if row is None else _read_number(row.get("context_length"), _WINDOWS)


def _find_trained_window(info: Mapping[str, Any]) -> int | None:
    """Return what a model could read, under a name that begins with its architecture's."""
    told = (number for key, number in info.items() if str(key).endswith(".context_length"))
    return next((n for n in (_read_number(each, _WINDOWS) for each in told) if n), None)


def _read_num_ctx(parameters: Any) -> int | None:
    match = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return _read_number(int(match[1]), _WINDOWS) if match else None


def _get_map(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = row.get(key)
    return part if isinstance(part, Mapping) else {}


def _read_number(told: Any, sensible: range) -> int | None:
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    is_number = isinstance(told, int) and not isinstance(told, bool)
    return told if is_number and told in sensible else None


def _read_flag(told: Any) -> bool | None:
    return told if isinstance(told, bool) else None


def _read_word_list(words: Any, word: str) -> bool | None:
    """Tell whether a list has a word; a list that has no words tells nothing."""
    return word in words if isinstance(words, list) and words else None


def _first_told(*flags: bool | None) -> bool | None:
    return next((flag for flag in flags if flag is not None), None)
