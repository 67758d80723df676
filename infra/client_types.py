"""Types of the Python client, from docs/openapi.json; `python -m infra.client_types` writes them."""

import subprocess
import sys
from pathlib import Path

from infra.openapi import OPENAPI_FILE, ROOT

TYPES_FILE = ROOT / "clients/python/keepsake_client/types.py"
OPTIONS = (
    "--input-file-type=openapi",
    "--output-model-type=typing.TypedDict",
    "--target-python-version=3.11",
    "--formatters=builtin",
    "--disable-timestamp",
    "--use-double-quotes",
    '--custom-file-header="""Values of the API; `make clients` writes this file."""',
)


def write_types(file: Path) -> None:
    """Write the types of all schemas into a file."""
    program = Path(sys.executable).with_name("datamodel-codegen")
    subprocess.run([program, "--input", OPENAPI_FILE, "--output", file, *OPTIONS], check=True)


if __name__ == "__main__":
    write_types(TYPES_FILE)
    print(f"wrote {TYPES_FILE.relative_to(ROOT)}")
