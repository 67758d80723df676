"""The product as the browser meets it where a test plays its model, and kills it."""

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from infra.emulators.process import free_port, started
from infra.local.routing import ROOT
from tests.servers.openai import ScriptedOpenai
from tests.worlds.product import command, with_model


class Served:
    """The product at one address, which can be killed and started again."""

    def __init__(self, folder: Path, model: ScriptedOpenai, **settings: str) -> None:
        self._port = free_port()
        self._log = folder / "product.log"
        self._command = command(
            PORT=str(self._port),
            DATA_DIR=str(folder / "data"),
            **with_model(model.url),
            **settings,
        )
        self.origin = f"http://127.0.0.1:{self._port}"

    def start(self) -> AbstractContextManager["subprocess.Popen[bytes]"]:
        return started(self._command, port=self._port, log=self._log, cwd=ROOT)
