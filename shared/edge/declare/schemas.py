"""The base class of request and response bodies, and the patterns of their texts.

Also called: DTO, pydantic models.
"""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
OPTIONAL_ID_PATTERN = r"^[A-Za-z0-9_-]{0,64}$"
COLOR_PATTERN = r"^#[0-9A-Fa-f]{6}$"
LANGUAGE_PATTERN = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"
LANGUAGE_CODE_PATTERN = r"^[a-z]{2}$"
LOCAL_TIME_PATTERN = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
EVENT_NUMBER_PATTERN = r"^[0-9]{0,9}$"
_ID_WORDS = "1 to 64 letters, digits, hyphens or underscores"
PATTERN_WORDS: Mapping[str, str] = {
    ID_PATTERN: _ID_WORDS,
    OPTIONAL_ID_PATTERN: f"empty, or {_ID_WORDS}",
    COLOR_PATTERN: "a colour with six digits, such as #6B7280",
    LANGUAGE_PATTERN: "the code of a language, such as en or pt-BR",
    LANGUAGE_CODE_PATTERN: "the two letters of a language, such as en",
    LOCAL_TIME_PATTERN: "a time of day from 00:00 to 23:59",
    EVENT_NUMBER_PATTERN: "a number of at most nine digits",
}
"""What texts of a pattern are, for people whose text is refused."""


class Wire(BaseModel):
    """The base of every request and response body: NaN is refused.

    Unknown fields are ignored, except by routes that refuse them.

    A response may be validated from a domain value, by its attributes.

    A model is built when it is first used: a cold start pays for the route it serves, not for all.
    """

    model_config = ConfigDict(
        frozen=True,
        from_attributes=True,
        allow_inf_nan=False,
        defer_build=True,
        hide_input_in_errors=True,
    )


def clear_blank(text: object) -> object:
    """Read what was left empty in a form or a query as absent."""
    return None if isinstance(text, str) and not text.strip() else text
