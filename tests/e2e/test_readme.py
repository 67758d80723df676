"""README commands: those of its section on the API run as they are printed (P30, S9)."""

import re
import subprocess
from pathlib import Path

from infra.local.routing import ROOT
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

SECTION = re.compile(r"## Use the API\n\n```console [^\n]+\n(.+?)```", re.DOTALL)
MADE_KEY = {"LOCAL_KEY": ""}


def list_commands() -> list[str]:
    """List the commands behind each prompt, with their continued lines, without their output."""
    [section] = SECTION.findall((ROOT / "README.md").read_text())
    prompts = re.split(r"^\$ ", section, flags=re.MULTILINE)[1:]
    return [re.sub(r"^\{.*\}\n", "", prompt, flags=re.MULTILINE) for prompt in prompts]


def test_the_commands_of_the_api_sign_in_add_a_conversation_and_ask_about_it_s9(
    tmp_path: Path,
) -> None:
    sign_in, add, show, ask = list_commands()
    with run_product(tmp_path, **MADE_KEY, DATA_DIR=str(tmp_path / ".keepsake")) as product:
        address = product.origin.removeprefix("http://")

        def run(*commands: str) -> str:
            script = "".join((sign_in, *commands)).replace("localhost:8080", address)
            return subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=tmp_path,
                capture_output=True,
                check=True,
                text=True,
                timeout=60,
            ).stdout

        added = run(add)
        shown = wait_until(lambda: output if '"completed"' in (output := run(show)) else None)
        answer = run(ask)

    assert added == '{"id":"offsite","status":"processing"}'
    assert "Lisbon" in shown
    assert "data: " in answer
    assert "done: " in answer
