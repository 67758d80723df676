"""Packages that we install: each under a licence that we know, and listed for whoever has to check."""

import json
import re
import subprocess
import sys

from infra.sbom import LOCKS, ROOT, build_sbom, read_licences, read_pins

PERMISSIVE = {
    "0BSD", "3-Clause BSD License", "Apache Software License", "Apache-2.0", "BSD", "BSD License", "BSD-2-Clause", "BSD-3-Clause",
    "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT License", "MIT-0", "MIT-CMU", "PSF-2.0", "Python Software Foundation License",
    "The MIT License (MIT)", "The Unlicense (Unlicense)", "Zlib",
}  # fmt: skip
"""As packages write them: who uses what is under these names its authors, and owes nothing else."""
NAMED = {
    "certifi": "MPL-2.0: a list of certificates, which we do not change",
    "httpx2-jsfetch": "for browsers alone: never installed where we run",
    "orjson": "MPL-2.0 for one part of it, which we do not change",
    "pypdfium2": "BSD-3-Clause and Apache-2.0; its engine's parts are listed in the wheel, all permissive",
    "python-stdnum": "LGPL-2.1: used as it comes, loaded from its own files",
    "pywin32": "for Windows alone: never installed where we run",
}
"""All others, each with why it may be here."""


def test_every_package_has_a_licence_that_we_know_or_is_named_with_a_reason() -> None:
    others = {
        pin.name: licences
        for pin in read_pins("requirements.txt")
        if not (licences := read_licences(pin.name)) or not PERMISSIVE.issuperset(licences)
    }

    assert others.keys() == NAMED.keys(), others


def test_a_package_that_names_no_licence_is_not_known() -> None:
    assert not PERMISSIVE.issuperset([""])
    assert read_licences("not-installed") == []


def test_the_list_has_every_release_of_the_locks_with_the_hashes_of_its_files() -> None:
    components = {each["bom-ref"]: each for each in build_sbom()["components"]}

    for lock in LOCKS:
        pins = read_pins(lock)
        assert len(pins) == sum("==" in line for line in (ROOT / lock).read_text().splitlines())
        for pin in pins:
            listed = components[f"pkg:pypi/{pin.name}@{pin.version}"]
            assert pin.hashes
            assert [each["value"] for each in listed["properties"]] == pin.hashes


def test_images_are_built_on_bases_that_never_change() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]

    assert bases != []
    assert all(re.match(r"FROM \S+@sha256:[0-9a-f]{64}( |$)", base) for base in bases)


def test_make_sbom_writes_a_document_of_cyclonedx(tmp_path) -> None:
    path = tmp_path / "made/sbom.json"

    subprocess.run([sys.executable, "-m", "infra.sbom", str(path)], check=True, cwd=ROOT)

    document = json.loads(path.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    [starlette] = [each for each in document["components"] if each["name"] == "starlette"]
    assert starlette["licenses"] == [{"license": {"name": "BSD-3-Clause"}}]
