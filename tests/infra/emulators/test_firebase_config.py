"""Configuration of the Firebase CLI: it runs the emulators with our rules, for one machine alone."""

import json

from tests.conftest import ROOT

CONFIG = json.loads((ROOT / "firebase.json").read_text())


def test_the_emulators_get_our_rules_and_indexes() -> None:
    files = {ROOT / path for path in CONFIG["firestore"].values()}

    assert {file.name for file in files} == {"firestore.rules", "firestore.indexes.json"}
    assert all(file.is_file() for file in files)


def test_the_emulators_are_reached_from_this_machine_alone() -> None:
    hosts = {each["host"] for each in CONFIG["emulators"].values() if isinstance(each, dict)}

    assert hosts == {"127.0.0.1"}
