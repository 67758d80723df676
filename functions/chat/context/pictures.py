"""Pictures in a context: named in the message they came with, and taken out where a model sees none."""

import json
from collections.abc import Sequence
from dataclasses import replace

from functions.chat.context.blocks import EarlierMessage, build_earlier_message
from shared.domain.files.file import File
from shared.domain.models.model import ModelMessage, Picture, UserText
from shared.domain.value import value

UNSEEN = "[You cannot see the pictures of this message; say so if they matter.]"


@value
class GivenPicture:
    """A picture that came with a message, and the line that names it."""

    label: str
    picture: Picture


def build_label(file: File) -> str:
    name = json.dumps(file.name, ensure_ascii=False)
    return f"[picture {name}, {file.width} × {file.height} pixels]"


def add_pictures(message: UserText, given: Sequence[GivenPicture]) -> UserText:
    """Return the message with these pictures, named above its text."""
    if not given:
        return message
    labels = "\n".join(each.label for each in given)
    return UserText(
        text=f"{labels}\n\n{message.text}", pictures=tuple(each.picture for each in given)
    )


def hide_pictures(message: ModelMessage) -> ModelMessage:
    """Return the message for a model that sees none: the names stay, and a line says so."""
    if not isinstance(message, UserText) or not message.pictures:
        return message
    return UserText(text=f"{UNSEEN}\n{message.text}")


def hide_earlier_pictures(earlier: EarlierMessage) -> EarlierMessage:
    messages = tuple(map(hide_pictures, earlier.messages))
    if messages == earlier.messages:
        return earlier
    return replace(build_earlier_message(messages), files=earlier.files)
