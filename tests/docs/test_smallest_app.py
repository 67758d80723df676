"""The smallest app of docs/apps.md: its text and its commands, as they stand there (T21)."""

import re
import subprocess
import sys
from pathlib import Path

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from tests.docs.page import list_blocks
from tests.e2e.product import ask, run_product
from tests.local_key import LOCAL_KEY

PAGE = ROOT / "docs/apps.md"
PROGRAM = re.compile(r"Save this as `umbrella\.py`:\n\n```python\n(.+?)```", re.DOTALL)


def test_the_smallest_app_works_as_it_is_written_t21(tmp_path: Path) -> None:
    [program] = PROGRAM.findall(PAGE.read_text())
    serve, register = list_blocks(PAGE)[:2]
    port = find_free_port()
    (tmp_path / ".keepsake").mkdir()
    (tmp_path / ".keepsake/local_key").write_text(LOCAL_KEY)
    (tmp_path / "umbrella.py").write_text(program.replace("3000", str(port)))
    interpreter, script = serve.script.split()
    with (
        run_product(tmp_path) as product,
        run_process([sys.executable, script], port=port, log=tmp_path / "app.log", cwd=tmp_path),
        product.client("alice") as alice,
    ):
        commands = register.script.replace("127.0.0.1:8080", product.origin.removeprefix("http://"))
        installed = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands.replace("3000", str(port))],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout
        answer = ask(alice, "What is the weather forecast for Lisbon?")

    assert interpreter == "python3"
    assert installed == '{"status":"ok"}'
    assert answer.text == "Rain at five."
