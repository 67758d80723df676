"""Schemas of a user's settings: request and response bodies, with the fields that released apps read."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, StringConstraints

from shared.domain.account.hearing import MAX_WORD_CHARS, MAX_WORDS, Hearing
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


Word = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARS)
]


class HearingIn(Wire):
    """Fields left out, and null, keep their value."""

    single_language_mode: bool | None = None
    vocabulary: Annotated[tuple[Word, ...], Field(max_length=MAX_WORDS)] | None = None

    def to_changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if self.single_language_mode is not None:
            changes["single_language"] = self.single_language_mode
        if self.vocabulary is not None:
            changes["vocabulary"] = tuple(dict.fromkeys(self.vocabulary))
        return changes


class HearingOut(Wire):
    single_language_mode: bool
    vocabulary: tuple[str, ...]

    @classmethod
    def of(cls, hearing: Hearing) -> Self:
        return cls(single_language_mode=hearing.single_language, vocabulary=hearing.vocabulary)


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
