"""Hub of models: which files are chosen, and that a download is whole, verified, and said when it fails."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from infra.model_server.errors import CannotServeModel
from infra.model_server.hub import Hub, ListedFile, choose_files
from infra.model_server.model_files import find_whole_model, list_parts, measure_size
from tests.servers import run_server

PARTS = list_parts("big-Q4_K_M-00001-of-00003.gguf")


def list_files(*paths: str) -> list[ListedFile]:
    return [ListedFile.model_validate({"rfilename": path}) for path in paths]


def choose(quantization: str | None, *paths: str) -> Sequence[str]:
    return [file.path for file in choose_files(list_files(*paths), quantization)]


@pytest.mark.parametrize(
    ("quantization", "paths", "chosen"),
    [
        (None, ["README.md", "m-Q8_0.gguf", "m-Q4_K_M.gguf"], ["m-Q4_K_M.gguf"]),
        (None, ["m-f16.gguf", "m-q4_0.gguf"], ["m-q4_0.gguf"]),
        (None, ["mmproj-Q4_K_M.gguf", "m-f16.gguf"], ["m-f16.gguf"]),
        ("q8_0", ["m-Q4_K_M.gguf", "m-Q8_0.gguf"], ["m-Q8_0.gguf"]),
        (None, ["a.gguf", *PARTS], PARTS),
        ("Q4_K_M", [f"Q4_K_M/{part}" for part in PARTS], [f"Q4_K_M/{part}" for part in PARTS]),
    ],
)
def test_the_best_quantization_is_chosen_with_all_its_parts(
    quantization: str | None, paths: Sequence[str], chosen: Sequence[str]
) -> None:
    assert choose(quantization, *paths) == chosen


@pytest.mark.parametrize(
    ("quantization", "paths", "reason"),
    [
        (None, ["README.md", "model.safetensors"], "it has no GGUF file"),
        ("Q2_K", ["m-Q8_0.gguf"], "it has no Q2_K, but m-Q8_0.gguf"),
    ],
)
def test_a_model_that_cannot_be_served_is_refused_with_what_it_has(
    quantization: str | None, paths: Sequence[str], reason: str
) -> None:
    with pytest.raises(CannotServeModel, match=reason):
        choose(quantization, *paths)


def test_a_model_counts_as_there_only_with_all_its_parts(tmp_path: Path) -> None:
    for part in PARTS[:2]:
        (tmp_path / part).write_bytes(b"12345")
    before = find_whole_model(tmp_path)
    (tmp_path / PARTS[2]).write_bytes(b"12345")

    assert before is None
    assert find_whole_model(tmp_path) == tmp_path / PARTS[0]
    assert measure_size(tmp_path / PARTS[0]) == 15


@dataclass
class ScriptedHub:
    """A hub with one model; the first `breaks` downloads end in the middle."""

    files: Mapping[str, bytes]
    sums: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    size: int | None = None
    takes_ranges: bool = True
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def build_app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/api/models/{owner}/{model}", self.list),
                Route("/{owner}/{model}/resolve/main/{path:path}", self.send),
            ]
        )

    async def list(self, request: Request) -> Response:
        self._note(request)
        rows: list[dict[str, Any]] = [
            {
                "rfilename": name,
                "size": len(content) if self.size is None else self.size,
                "lfs": {"sha256": self.sums.get(name, sha256(content).hexdigest())},
            }
            for name, content in self.files.items()
        ]
        return JSONResponse({"siblings": rows}, self.status)

    async def send(self, request: Request) -> Response:
        self._note(request)
        content = self.files[request.path_params["path"]]
        start = int(request.headers["range"].removeprefix("bytes=").rstrip("-"))
        if not self.takes_ranges:
            return Response(content)
        if start >= len(content):
            return Response(status_code=416)
        return Response(content[start:], 206)

    def _note(self, request: Request) -> None:
        headers = request.headers
        self.requests.append(
            (request.url.path, headers.get("range", ""), headers.get("authorization", ""))
        )


WEIGHTS = b"GGUF" + bytes(range(256)) * 8


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[tuple[ScriptedHub, Hub]]:
    scripted = getattr(request, "param", None) or ScriptedHub({"m-Q4_0.gguf": WEIGHTS})
    with run_server(scripted.build_app()) as url:
        yield scripted, Hub(url=url, token=None)


def test_a_model_is_fetched_once_and_then_found_without_a_request(
    hub: tuple[ScriptedHub, Hub], tmp_path: Path
) -> None:
    scripted, client = hub

    first = client.fetch("ann/small", tmp_path)
    asked = len(scripted.requests)
    second = client.fetch("ann/small", tmp_path)

    assert first == second == tmp_path / "ann/small/m-Q4_0.gguf"
    assert first.read_bytes() == WEIGHTS
    assert asked == len(scripted.requests) == 2


@pytest.mark.parametrize("takes_ranges", [True, False])
@pytest.mark.parametrize("there", [1, 1_000, len(WEIGHTS)])
def test_a_download_that_broke_off_goes_on_or_begins_again(
    tmp_path: Path, there: int, *, takes_ranges: bool
) -> None:
    scripted = ScriptedHub({"m.gguf": WEIGHTS}, takes_ranges=takes_ranges)
    draft = tmp_path / "ann/small/m.gguf.part"
    draft.parent.mkdir(parents=True)
    draft.write_bytes(WEIGHTS[:there])
    with run_server(scripted.build_app()) as url:
        file = Hub(url=url, token=None).fetch("ann/small", tmp_path)

    assert file.read_bytes() == WEIGHTS
    assert scripted.requests[-1][1] == f"bytes={there}-"
    assert not draft.exists()


def test_a_file_that_came_damaged_is_not_kept(tmp_path: Path) -> None:
    scripted = ScriptedHub({"m.gguf": WEIGHTS}, sums={"m.gguf": "0" * 64})
    with (
        run_server(scripted.build_app()) as url,
        pytest.raises(CannotServeModel, match="came damaged"),
    ):
        Hub(url=url, token=None).fetch("ann/small", tmp_path)

    assert list(tmp_path.rglob("*.gguf*")) == []


def test_a_path_of_the_hub_stays_within_the_folder_of_its_model(tmp_path: Path) -> None:
    scripted = ScriptedHub({"../../../evil.gguf": WEIGHTS})
    with run_server(scripted.build_app()) as url, pytest.raises(CannotServeModel):
        Hub(url=url, token=None).fetch("ann/small", tmp_path / "models")

    assert list(tmp_path.rglob("evil.gguf")) == []


def test_a_token_is_sent_to_the_hub(tmp_path: Path) -> None:
    scripted = ScriptedHub({"m.gguf": WEIGHTS})
    with run_server(scripted.build_app()) as url:
        Hub(url=url, token="hf_1").fetch("ann/small:m", tmp_path)

    assert {authorization for *_, authorization in scripted.requests} == {"Bearer hf_1"}


@pytest.mark.parametrize(
    ("scripted", "reason"),
    [
        (ScriptedHub({}, status=401), "has no such model, or shows it only"),
        (ScriptedHub({}, status=404), "has no such model, or shows it only"),
        (ScriptedHub({}, status=503), "answered with status 503"),
        (ScriptedHub({}), "it has no GGUF file"),
        (ScriptedHub({"m.gguf": b""}, size=10**18), "has room for"),
    ],
)
def test_what_cannot_be_fetched_is_told_in_one_sentence(
    tmp_path: Path, scripted: ScriptedHub, reason: str
) -> None:
    with run_server(scripted.build_app()) as url, pytest.raises(CannotServeModel) as error:
        Hub(url=url, token=None).fetch("ann/small", tmp_path)

    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_without_a_connection_the_hub_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotServeModel, match=r"there is no connection to 127\.0\.0\.1"):
        Hub(url="http://127.0.0.1:9", token=None).fetch("ann/small", tmp_path)
