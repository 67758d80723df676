"""Real apps: sentences of their users as wishes, with the tools of the apps' own manifests."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from functions.tool_proxy.registry.manifest import read_manifest
from infra.eval.wishes import Wish, WishedCall, build_app
from shared.domain.apps.app import App, ExternalIntegration


def load_real_wishes(manifests: Path, sentences: Path) -> list[Wish]:
    """Read a JSON object of manifests by app, and a list of {app, tool, class, say, arguments}."""
    apps = {
        name: _build_app(name, manifest)
        for name, manifest in json.loads(manifests.read_text(encoding="utf-8")).items()
    }
    return [
        Wish(
            language=sentence["app"],
            message=sentence["say"],
            calls=[
                WishedCall(
                    tool=sentence["tool"],
                    tool_class=sentence["class"],
                    arguments=sentence["arguments"],
                )
            ],
            app=apps[sentence["app"]],
        )
        for sentence in json.loads(sentences.read_text(encoding="utf-8"))
    ]


def _build_app(name: str, manifest: Mapping[str, Any]) -> App:
    home = ExternalIntegration(app_home_url="https://app.example")
    return build_app(name, read_manifest(json.dumps(manifest).encode(), home).tools)
