"""Schemas that several nouns of the library use: pages, searches and titles."""

from typing import Annotated

from pydantic import Field, StringConstraints

from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import Wire

TitleText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
QueryText = Annotated[str, Field(min_length=1, max_length=1_000)]


class OffsetPageQuery(PageQuery):
    """A page by cursor, or by offset for released apps: skipped items are read, so it is bounded."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Annotated[int, Field(ge=0, le=5_000)] = 0


class LibrarySearchIn(Wire):
    query: QueryText
    limit: Annotated[int, Field(ge=1, le=100)] = 20
