"""Request and response bodies that several functions share."""

from typing import Annotated, Literal

from pydantic import Field

from shared.edge.declare.schemas import Wire

MAX_CURSOR_CHARS = 400


class OkOut(Wire):
    """The request is done."""

    status: Literal["ok"] = "ok"


class CapitalOkOut(Wire):
    """The request is done, in the spelling that released apps compare with."""

    status: Literal["Ok"] = "Ok"


class PageQuery(Wire):
    """`cursor` is the one that the previous page returned; without it, the list begins."""

    cursor: Annotated[str, Field(max_length=MAX_CURSOR_CHARS)] | None = None
