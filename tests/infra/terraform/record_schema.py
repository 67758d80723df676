"""Schema of the Google providers, recorded from packages that carry it: what each resource may set.

The providers themselves are no package of a registry that Python reads; their bindings for Python are:

    pip download --no-deps cdktf-cdktf-provider-google==16.12.1 cdktf-cdktf-provider-google-beta==16.12.1
    python -m tests.infra.terraform.record_schema *.whl

Both were made from version 6.50.0 of the providers. Only the types that infra/terraform names are kept.
"""

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from infra.local.routing import ROOT

SCHEMA = Path(__file__).with_name("provider_schema.json")
RESOURCE = re.compile(r'^resource "(google_\w+)"', re.MULTILINE)
META_ARGUMENTS = {
    "connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioners",
}  # fmt: skip


def find_types() -> set[str]:
    files = (ROOT / "infra/terraform").rglob("*.tf")
    return {name for path in files for name in RESOURCE.findall(path.read_text())}


def read_schema(wheel: Path, types: set[str]) -> dict[str, Any]:
    with ZipFile(wheel) as archive:
        modules = {
            name.split("/")[1].removeprefix("google_"): name
            for name in archive.namelist()
            if re.fullmatch(r"\w+/\w+/__init__\.py", name)
        }
        return {
            name: read_resource(archive.read(modules[name.removeprefix("google_")]).decode())
            for name in types
            if name.removeprefix("google_") in modules
        }


def read_resource(source: str) -> dict[str, Any]:
    classes = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)}
    [config] = [node for node in classes.values() if has_base(node, "TerraformMetaArguments")]
    [resource] = [node for node in classes.values() if has_base(node, "TerraformResource")]
    arguments = read_arguments(config, classes)
    settable = {name: value for name, value in arguments.items() if name not in META_ARGUMENTS}
    return {"set": settable, "read": read_attributes(resource)}


def has_base(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(base, ast.Attribute) and base.attr == name for base in node.bases)


def read_arguments(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, Any]:
    """Return argument → whether it is required, and block → its arguments with "required"."""
    [init] = [
        item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    return {
        argument.arg: read_argument(ast.unparse(argument.annotation or init), classes)
        for argument in init.args.kwonlyargs
    }


def read_argument(annotation: str, classes: dict[str, ast.ClassDef]) -> Any:
    is_required = not annotation.startswith("typing.Optional")
    block = next((name for name in re.findall(r"\w+", annotation) if name in classes), None)
    if block is None:
        return is_required
    return {"required": is_required, "set": read_arguments(classes[block], classes)}


def read_attributes(node: ast.ClassDef) -> list[str]:
    return sorted(
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef)
        and any(ast.unparse(decorator) == "builtins.property" for decorator in item.decorator_list)
        and not item.name.endswith("_input")
    )


def main() -> None:
    types = find_types()
    schema: dict[str, Any] = {}
    for wheel in sys.argv[1:]:
        schema |= read_schema(Path(wheel), types - schema.keys())
    SCHEMA.write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")
    assert schema.keys() == types, f"not found: {types - schema.keys()}"


if __name__ == "__main__":
    main()
