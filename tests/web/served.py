"""Product for browser tests that script its model, kill it and start it again."""

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from tests.e2e.product import build_command, build_model_environment
from tests.servers.openai import ScriptedOpenai


class ProductServer:
    """A product at one address that can be killed and started again."""

    def __init__(self, folder: Path, model: ScriptedOpenai, **settings: str) -> None:
        self._port = find_free_port()
        self._log = folder / "product.log"
        self._command = build_command(
            PORT=str(self._port),
            DATA_DIR=str(folder / "data"),
            **build_model_environment(model.url),
            **settings,
        )
        self.origin = f"http://127.0.0.1:{self._port}"

    def start(self) -> AbstractContextManager["subprocess.Popen[bytes]"]:
        return run_process(self._command, port=self._port, log=self._log, cwd=ROOT)
