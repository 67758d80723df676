"""Schema of the Google providers, recorded from packages that carry it: what each resource may set, and of which type.

The providers themselves are no package of a registry that Python reads; their bindings for Python are:

    pip download --no-deps cdktf-cdktf-provider-google==16.12.1 cdktf-cdktf-provider-google-beta==16.12.1
    python -m tests.infra.terraform.record_schema *.whl

Both were made from version 6.50.0 of the providers. Only the types that infra/terraform names are kept.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
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
    """Return the block of a resource, and what is known of it once it is made, by type."""
    classes = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)}
    [config] = [node for node in classes.values() if has_base(node, "TerraformMetaArguments")]
    [resource] = [node for node in classes.values() if has_base(node, "TerraformResource")]
    block = read_block(config, classes)
    for name in META_ARGUMENTS:
        block["attributes"].pop(name, None)
        block["blocks"].pop(name, None)
    computed = dict(read_attributes(resource))
    given = block["attributes"].keys() | block["blocks"].keys()
    return {**block, "computed": {name: computed[name] for name in computed.keys() - given}}


def has_base(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(base, ast.Attribute) and base.attr == name for base in node.bases)


def read_block(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, Any]:
    """Return attributes by type, nested blocks, each with whether it may come `many` times, and what is required."""
    [init] = [
        item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    block: dict[str, Any] = {"attributes": {}, "blocks": {}, "required": []}
    for argument in init.args.kwonlyargs:
        annotation = ast.unparse(argument.annotation or init)
        nested = next((name for name in re.findall(r"\w+", annotation) if name in classes), None)
        if nested:
            many = "typing.Sequence" in annotation
            block["blocks"][argument.arg] = {**read_block(classes[nested], classes), "many": many}
        elif type_ := read_type(annotation):
            block["attributes"][argument.arg] = type_
        if not annotation.startswith("typing.Optional"):
            block["required"].append(argument.arg)
    return block


def read_type(annotation: str) -> Any:
    """Return a type as Terraform writes it in JSON; None for objects, which no file of ours reads."""
    inner = re.sub(r"typing\.Optional\[(.*)\]$", r"\1", annotation)
    for collection, name in (("Sequence", "list"), ("List", "list"), ("Mapping", "map")):
        if match := re.match(rf"typing\.{collection}\[(?:builtins\.str, )?(.*)\]$", inner):
            element = read_type(match[1])
            return [name, element] if element else None
    if inner.endswith("StringMap"):
        return ["map", "string"]
    names = {"builtins.str": "string", "jsii.Number": "number", "builtins.bool": "bool"}
    if "IResolvable" in inner:
        return "bool"
    return names.get(inner)


def read_attributes(node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name.endswith("_input"):
            continue
        decorators = [ast.unparse(decorator) for decorator in item.decorator_list]
        if "builtins.property" in decorators and item.returns is not None:
            type_ = read_type(ast.unparse(item.returns))
            if type_:
                yield item.name, type_


def main() -> None:
    types = find_types()
    schema: dict[str, Any] = {}
    for wheel in sys.argv[1:]:
        schema |= read_schema(Path(wheel), types - schema.keys())
    SCHEMA.write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")
    assert schema.keys() == types, f"not found: {types - schema.keys()}"


if __name__ == "__main__":
    main()
