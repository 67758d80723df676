"""Refused calls: what released apps ask for and Keepsake does not do, each with a sentence that says why.

Also called: backward compatibility, unsupported endpoints.
"""

from collections.abc import Mapping, Sequence

from shared.domain.errors import NotFound
from shared.edge.declare.routes import Call, Method, Route, route
from shared.languages import translate
from shared.library.deps import LibraryDeps

REFUSED: Mapping[str, Sequence[tuple[Method, str]]] = {
    "Keepsake makes no persona of anybody. Create an app with a prompt for its chat instead.": (
        ("GET", "/v1/personas"),
        ("POST", "/v1/personas"),
        ("PATCH", "/v1/personas/{persona_id}"),
        ("GET", "/v1/personas/generate-username"),
        ("GET", "/v1/personas/twitter/profile"),
        ("GET", "/v1/personas/twitter/verify-ownership"),
        ("GET", "/v1/personas/twitter/initial-message"),
        ("POST", "/v1/user/persona"),
        ("GET", "/v1/apps/check-username"),
    ),
    "Keepsake makes no apps and draws no logos. Fill in the form, and choose a logo of your own.": (
        ("POST", "/v1/app/generate"),
        ("POST", "/v1/app/generate-icon"),
    ),
    "Keepsake shows no pictures of an app but its logo.": (("POST", "/v1/app/thumbnails"),),
    "An app stays with the account that made it.": (("POST", "/v1/apps/migrate-owner"),),
    "Keepsake learns no voice but yours, from your sample. Name who speaks in the conversation.": (
        ("POST", "/v1/speaker-tag-prompts/shown"),
        ("POST", "/v1/speaker-tag-prompts/dismiss"),
        ("POST", "/v1/speaker-tag-prompts/answer"),
        ("GET", "/v1/speaker-tag-prompts/clip"),
        ("PATCH", "/v1/users/voice-profile-settings"),
        ("DELETE", "/v1/users/people/{person_id}/speech-samples/{place}"),
    ),
    "Keepsake does not read answers aloud.": (
        ("GET", "/v1/tts/voices"),
        ("GET", "/v1/users/voice"),
        ("PATCH", "/v1/users/voice"),
        ("POST", "/v2/tts/synthesize"),
    ),
    "Keepsake takes no meetings from a phone. Connect Google Calendar, and ask about them.": (
        ("POST", "/v1/calendar/meetings"),
    ),
    "Nobody trains models with what you store here, so there is nothing to allow.": (
        ("POST", "/v1/users/training-data-opt-in"),
    ),
    "Everything is protected in the same way here. There is no other level to move it to.": (
        ("POST", "/v1/users/migration/requests"),
        ("POST", "/v1/users/migration/batch-requests"),
        ("POST", "/v1/users/migration/requests/data-protection-level/finalize"),
    ),
    "This app is too old to hand in recordings of its device. Update it, and try again.": (
        ("POST", "/sdcard_memory"),
    ),
    "Keepsake asks for no ratings of itself, and keeps none.": (("POST", "/v1/csat/ratings"),),
    "Keepsake connects no task apps but Apple Reminders.": (
        ("GET", "/v1/task-integrations/{path:path}"),
        ("POST", "/v1/task-integrations/{path:path}"),
    ),
    "Delete them in the list of conversations: there is nothing that deletes all of an import.": (
        ("DELETE", "/v1/import/limitless/conversations"),
    ),
    "Keepsake runs no computer for you.": (
        ("POST", "/v1/agent/vm-ensure"),
        ("POST", "/v1/agent/keepalive"),
    ),
    "Keepsake writes no review of a year.": (("POST", "/v1/wrapped/{year}/generate"),),
}
"""The sentence, which the app shows in its owner's language where it shows one, and the calls that it answers."""


def _build_route(method: Method, path: str, sentence: str) -> Route[LibraryDeps]:
    @route(method, path, "Refuse, in words", errors=(401, 404), is_described=False)
    async def refuse(deps: LibraryDeps, call: Call) -> None:
        profile = await deps.stores.profiles.get(call.uid)
        raise NotFound(translate(sentence, profile.language or call.language))

    return refuse


ROUTES = tuple(
    _build_route(method, path, sentence)
    for sentence, calls in REFUSED.items()
    for method, path in calls
)
