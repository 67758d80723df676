"""Hub of models: the files of a model, found by the names of its owner and its own, and downloaded.

A file is there as a whole or not at all, is verified first, and is not asked for again. A download that
broke off goes on where it ended. The packaged server cannot fetch one itself: it speaks no TLS.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, Field, ValidationError

from infra.model_server.errors import CannotServeModel
from infra.model_server.model_files import find_whole_model, list_parts
from infra.progress import draw_progress_bar
from shared.domain.value import value

NAME = re.compile(r"(?P<model>[\w.-]+/[\w.-]+)(?::(?P<quantization>[\w.-]+))?")
"""The name of a model, perhaps with one of its quantizations: `owner/model:Q8_0`."""
PREFERRED = ("Q4_K_M", "Q4_0", "Q5_K_M", "Q8_0")
"""Quantizations, best first: small enough for most machines, and hardly worse than the whole model."""
_TIMEOUT_S = 30.0
_PIECE_BYTES = 2**20
_REFUSALS = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


class _Blob(BaseModel):
    sha256: str


class ListedFile(BaseModel):
    """A file of a model, as the hub lists it."""

    path: str = Field(alias="rfilename")
    size_bytes: Annotated[int, Field(ge=0, alias="size")] = 0
    blob: _Blob | None = Field(None, alias="lfs")

    @property
    def name(self) -> str:
        return Path(self.path).name


class _Listing(BaseModel):
    siblings: Sequence[ListedFile] = ()


def choose_files(listed: Sequence[ListedFile], quantization: str | None) -> Sequence[ListedFile]:
    """Return the file to serve, or all parts of it. Raises CannotServeModel where there is none."""
    files = [
        file
        for file in sorted(listed, key=lambda file: file.path)
        if file.name.endswith(".gguf") and not file.name.startswith("mmproj")
    ]
    if not files:
        raise CannotServeModel("it has no GGUF file; the names of models that have end with -GGUF")
    for wanted in [quantization] if quantization else PREFERRED:
        matching = [file for file in files if wanted.lower() in file.path.lower()]
        if matching:
            return _complete(matching[0], files)
    if quantization:
        names = ", ".join(file.name for file in files)
        raise CannotServeModel(f"it has no {quantization}, but {names}")
    return _complete(files[0], files)


def _complete(chosen: ListedFile, files: Sequence[ListedFile]) -> Sequence[ListedFile]:
    parts = list_parts(chosen.name)
    return [file for file in files if file == chosen or file.name in parts]


@value
class Hub:
    """A hub at an address; a `token` is of somebody who accepted the licences of models there."""

    url: str
    token: str | None

    def fetch(self, name: str, cache: Path) -> Path:
        """Return the file of a model, or the first of its parts. Raises CannotServeModel."""
        folder = cache / name.replace(":", "/")
        if (there := find_whole_model(folder)) is not None:
            return there
        model, _, quantization = name.partition(":")
        with self._open_client() as client:
            files = choose_files(_list_files(client, model), quantization)
            _download_all(client, model, files, folder)
        return folder / files[0].name

    def fetch_folder(self, model: str, names: Sequence[str], cache: Path) -> Path:
        """Return a folder with those files of a model that have one of the names, and with the last of them.

        Raises CannotServeModel.
        """
        folder = cache / model
        if (folder / names[-1]).is_file():  # it is fetched after all others
            return folder
        with self._open_client() as client:
            listed = {file.path: file for file in _list_files(client, model)}
            if names[-1] not in listed:
                raise CannotServeModel(f"{model} has no {names[-1]}")
            _download_all(client, model, [listed[name] for name in names if name in listed], folder)
        return folder

    @contextmanager
    def _open_client(self) -> Iterator[httpx.Client]:
        """Yield a client whose failures are told in a sentence."""
        host = urlsplit(self.url).hostname
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            with httpx.Client(
                base_url=self.url, headers=headers, timeout=_TIMEOUT_S, follow_redirects=True
            ) as client:
                yield client
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise CannotServeModel(
                f"{host} has no such model, or shows it only to those who accepted its licence "
                "there and set HF_TOKEN"
                if status in _REFUSALS
                else f"{host} answered with status {status}"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CannotServeModel(f"there is no connection to {host}") from error


def _list_files(client: httpx.Client, model: str) -> Sequence[ListedFile]:
    answer = client.get(f"api/models/{model}", params={"blobs": "true"}).raise_for_status()
    try:
        return _Listing.model_validate_json(answer.content).siblings
    except ValidationError as error:
        raise CannotServeModel(f"what {client.base_url.host} lists cannot be read") from error


def _download_all(
    client: httpx.Client, model: str, files: Sequence[ListedFile], folder: Path
) -> None:
    """Download what is missing of some files, in their order. Raises CannotServeModel."""
    try:
        _require_room(folder, files)
        for file in files:
            _download(client, f"{model}/resolve/main/{file.path}", file, folder)
    except OSError as error:
        raise CannotServeModel(f"{folder} cannot be written: {error.strerror}") from error


def _require_room(folder: Path, files: Sequence[ListedFile]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    missing_bytes = sum(file.size_bytes for file in files if not (folder / file.name).exists())
    free_bytes = shutil.disk_usage(folder).free
    if missing_bytes > free_bytes:
        raise CannotServeModel(
            f"it needs {describe_size(missing_bytes)}, and {folder} has room for "
            f"{describe_size(free_bytes)}: make room, or choose another folder with MODELS_DIR=elsewhere"
        )


def describe_size(size_bytes: int) -> str:
    """Write a size for people: `491 MB`, `4.7 GB`."""
    megabytes = size_bytes / 1e6
    return f"{megabytes:,.0f} MB" if megabytes < 1_000 else f"{megabytes / 1_000:,.1f} GB"


def _download(client: httpx.Client, url: str, file: ListedFile, folder: Path) -> None:
    """Download what is missing of a file, and put it in its place once it is whole."""
    whole, draft = folder / file.name, folder / f"{file.name}.part"
    if whole.exists():
        return
    print(f"keepsake: fetching {file.name} ({describe_size(file.size_bytes)})", flush=True)
    done_bytes = draft.stat().st_size if draft.exists() else 0
    with client.stream("GET", url, headers={"Range": f"bytes={done_bytes}-"}) as answer:
        if answer.status_code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:  # all is there
            answer.raise_for_status()
            _write(answer, draft, file)
    if file.blob is not None and _hash(draft) != file.blob.sha256:
        draft.unlink()
        raise CannotServeModel(f"{file.name} came damaged: start again, which fetches it anew")
    draft.rename(whole)


def _write(answer: httpx.Response, draft: Path, file: ListedFile) -> None:
    """Add to a draft, or begin it again where the server sends everything."""
    mode = "ab" if answer.status_code == HTTPStatus.PARTIAL_CONTENT else "wb"
    with draft.open(mode) as output:
        for piece in answer.iter_bytes(_PIECE_BYTES):
            output.write(piece)
            megabytes = output.tell() // 10**6
            draw_progress_bar(
                f"MB of {file.name}", megabytes, max(megabytes, file.size_bytes // 10**6, 1)
            )


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
