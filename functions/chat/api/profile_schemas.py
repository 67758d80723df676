"""Profile of the owner, as clients read and change it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from functions.chat.api.prompt_texts import IN_ONE_LINE
from shared.domain.account.profile import PreferredModel
from shared.domain.conversations.own_names import MAX_OWN_NAMES
from shared.domain.memories.interests import (
    MAX_INTEREST_CHARS,
    MAX_INTERESTS,
    MAX_LEARNING_STYLE_CHARS,
)
from shared.edge.declare.schemas import LANGUAGE_PATTERN, Wire

OwnName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Interest = Annotated[str, Field(max_length=MAX_INTEREST_CHARS), IN_ONE_LINE]
LearningStyle = Annotated[str, Field(max_length=MAX_LEARNING_STYLE_CHARS), IN_ONE_LINE]


class ProfileIn(Wire):
    """Fields left out keep their value.

    `own_names` are the names by which transcripts call the owner. A change goes over the stored
    conversations, whose memories and tasks follow. Each answer is told of at most five of the
    `interests`, never of all, and of the `learning_style`. With `summarises_results`, later answers
    read in a sentence or two what the tools of earlier ones found; else only what they were asked.
    `recalls_memories` is false where answers shall use nothing of what is remembered, and
    `volunteers_memories` true where they may bring it up unasked. With `recalls_chats`, they are told what up to
    three similar chats came to. The `preferred_model` answers unless a
    question or the agent of its chat names another; `auto` leaves the choice to each question.
    With `masks_private_data`, models read placeholders in the place of e-mail addresses, phone
    numbers, IBANs, card numbers, national ids, keys and passwords, where this server masks at all.
    Names of people and street addresses are not masked.
    """

    name: Annotated[str | None, Field(max_length=200)] = None
    time_zone: str | None = None
    language: Annotated[str | None, Field(pattern=LANGUAGE_PATTERN)] = None
    retention_days: Annotated[int | None, Field(ge=0, le=3_650)] = None
    is_place_shared: bool | None = None
    keeps_audio: bool | None = None
    own_names: Annotated[list[OwnName] | None, Field(max_length=MAX_OWN_NAMES)] = None
    interests: Annotated[list[Interest] | None, Field(max_length=MAX_INTERESTS)] = None
    learning_style: LearningStyle | None = None
    summarises_results: bool | None = None
    recalls_memories: bool | None = None
    volunteers_memories: bool | None = None
    recalls_chats: bool | None = None
    preferred_model: PreferredModel | None = None
    masks_private_data: bool | None = None


class ProfileOut(Wire):
    """The profile. Tools of apps are told where the owner is if `is_place_shared`.

    With `keeps_audio`, the sound of recordings is kept; else it is deleted once it is text.

    Released apps also read how data is protected: in one way, never moved.
    """

    name: str
    time_zone: str
    language: str | None
    retention_days: int
    is_place_shared: bool
    keeps_audio: bool
    own_names: list[str]
    interests: list[str]
    learning_style: str
    summarises_results: bool
    recalls_memories: bool
    volunteers_memories: bool
    recalls_chats: bool
    preferred_model: PreferredModel
    masks_private_data: bool
    data_protection_level: Literal["standard"] = "standard"
    migration_status: None = None


class FcmTokenIn(Wire):
    fcm_token: Annotated[str, Field(min_length=1, max_length=4_096)]
    time_zone: str
