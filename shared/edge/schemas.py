"""Request and response bodies that several functions share, and the base class of all."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_CURSOR_CHARS = 400
ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"


class Wire(BaseModel):
    """The base of every request and response body: unknown fields are ignored, NaN is refused.

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


class OkOut(Wire):
    """The request is done."""

    status: Literal["ok"] = "ok"


class CapitalOkOut(Wire):
    """The request is done, in the spelling that released apps compare with."""

    status: Literal["Ok"] = "Ok"


class PageQuery(Wire):
    """`cursor` is the one that the previous page returned; without it, the list begins."""

    cursor: Annotated[str, Field(max_length=MAX_CURSOR_CHARS)] | None = None
