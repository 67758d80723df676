"""Schemas of a user's settings: request and response bodies, with the fields that released apps read."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from shared.edge.declare.schemas import LANGUAGE_PATTERN, Wire
from shared.library.conversation_schemas import GeolocationIn

Language = Annotated[str, Field(pattern=LANGUAGE_PATTERN, max_length=32)]


class LanguageIn(Wire):
    """An ISO 639-1 code, with a region or script where needed."""

    language: Language


class LanguageOut(Wire):
    """Null until the owner chooses one."""

    language: str | None


class OnboardingIn(Wire):
    """Fields left out, and null, keep their value."""

    completed: bool | None = None
    acquisition_source: Annotated[str | None, Field(max_length=200)] = None


class OnboardingOut(Wire):
    completed: bool
    acquisition_source: str | None


class KeptSoundIn(Wire):
    """Whether the sound of recordings is kept once it is text."""

    value: bool


class KeptSoundOut(Wire):
    private_cloud_sync_enabled: bool


class RecordingPermissionOut(Wire):
    store_recording_permission: bool


class PlaceIn(GeolocationIn):
    """The place where the owner is."""

    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


def _parse_null(text: object) -> object:
    """Read the word null as none: released apps send it."""
    return None if text == "null" else text


class SummaryRatingQuery(Wire):
    memory_id: Annotated[str, Field(max_length=64)]


class SummaryRatingIn(SummaryRatingQuery):
    """`value` 1 and 0 are ratings; -1 says that the question for one was shown."""

    value: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str | None, Field(max_length=200), BeforeValidator(_parse_null)] = None


class SummaryRatingOut(Wire):
    has_rating: bool
