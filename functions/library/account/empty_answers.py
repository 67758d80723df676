"""Empty answers: what released apps ask at start or on opening a page, and what Keepsake has none of.

They read a missing answer as a failure and show it; an empty one leaves their page in order.

Also called: backward compatibility, compatibility stubs.
"""

from collections.abc import Mapping
from typing import Any

from shared.edge.declare.routes import Call, Route, route
from shared.library.deps import LibraryDeps

_ANSWERS: Mapping[str, dict[str, Any] | list[Any]] = {
    "/v1/fair-use/status": {"stage": "none"},
    "/v1/payments/available-plans": {"plans": []},
    "/v1/payment-methods/status": {
        "stripe": "not_connected",
        "paypal": "not_connected",
        "default": None,
    },
    "/v1/stripe/supported-countries": [],
    "/v1/announcements/pending": [],
    "/v1/announcements/changelogs": [],
    "/v2/firmware/latest": {},
    "/v2/firmware/stable": {},
    "/v1/users/training-data-opt-in": {"opted_in": False, "status": None},
    "/v1/users/migration/requests": {"needs_migration": []},
    "/v3/speech-profile/expand": [],
    "/v1/knowledge-graph": {"nodes": [], "edges": []},
    "/v1/app/plans": [],
    "/v1/app/generate-prompts": {"prompts": []},
    "/v1/phone/numbers": {"numbers": []},
    "/v1/agent/vm-status": {"has_vm": False},
    "/v1/wrapped/{year}": {"status": "not_generated"},
    "/v1/speaker-tag-prompts": {"prompts": []},
    "/v1/users/voice-profile-settings": {
        "speaker_tag_prompts_enabled": False,
        "save_other_voice_profiles": False,
    },
    "/v1/csat/config": {
        "enabled": False,
        "title": "",
        "body": "",
        "thank_you_text": "",
        "refer_cta_text": "",
        "question_threshold": 0,
        "comment_max_score": 0,
        "revision": 0,
    },
}


def _build_route(path: str, answer: dict[str, Any] | list[Any]) -> Route[LibraryDeps]:
    @route("GET", path, "Answer that there is none, as released apps read it", errors=(401,))
    async def get_none(deps: LibraryDeps, call: Call) -> dict[str, Any] | list[Any]:  # noqa: ARG001 - a route
        return answer

    return get_none


@route("POST", "/v1/knowledge-graph/rebuild", "Rebuild no graph: there is none", errors=(401,))
async def rebuild_graph(deps: LibraryDeps, call: Call) -> dict[str, Any]:  # noqa: ARG001 - a route
    return {"status": "rebuilding"}


ROUTES: tuple[Route[LibraryDeps], ...] = (
    *(_build_route(path, answer) for path, answer in _ANSWERS.items()),
    rebuild_graph,
)
