"""Schemas of people."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from functions.library.schemas import OffsetPageQuery
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    Label,
    Utc,
)


class PeopleQuery(OffsetPageQuery):
    """Released apps ask without a limit, once, for all people."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 1_000


class PersonNameIn(Wire):
    value: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonRoleIn(Wire):
    """What a person is to the owner; empty takes it back."""

    value: Annotated[Label, StringConstraints(strip_whitespace=True)]


class PersonOut(Wire):
    """A person, and what they are to the owner; released apps also read samples of their voice, of which none are stored."""

    id: str
    name: str
    role: str
    created_at: Utc
    updated_at: Utc
    speech_samples: list[str] = Field(default_factory=list)
    speech_sample_transcripts: list[str] = Field(default_factory=list)
    speech_samples_version: int = 1


class NamedSpeakerOut(Wire):
    """A name that transcripts give a speaker: in how many conversations, and in which one last."""

    name: str
    conversation_count: int
    last_conversation_id: str
    last_spoke_at: Utc


class RenewalsOut(Wire):
    """How far texts follow new names: `done` of `total` conversations were looked at; both 0 where nothing is to follow.

    It goes on at `continues_at`; null while the owner is being marked by their own names, in 2,000 conversations an hour.
    """

    done: int
    total: int
    continues_at: Utc | None


class AssignQuery(Wire):
    """The identity of a speaker: a person's id, or whether it is the owner; empty removes it.

    With `keep_name`, a speaker who is the owner is so by their name in all conversations, also later.
    """

    assign_type: Literal["person_id", "is_user"]
    value: Annotated[str, Field(max_length=64)] | None = None
    keep_name: bool = False
