"""Request and response bodies of the directory of apps."""

from typing import Annotated, get_args

from pydantic import BeforeValidator, Field

from functions.tool_proxy.registry.directory import AppGroup, Criteria
from shared.domain.apps.app_catalog import CATEGORIES, Capability, Choice, SortOrder
from shared.edge.declare.app_schemas import AppOut
from shared.edge.declare.schemas import Wire, clear_blank

MAX_OFFSET = 1_000_000
"""A page beyond the end is empty."""
MAX_QUERY_CHARS = 200


def _parse_rating(text: object) -> object:
    """Read a filter such as `4` or `4+`."""
    return text.strip().rstrip("+") or 0 if isinstance(text, str) else text


def _parse_sort(text: object) -> object:
    """Read an order; an unknown one is none, so that a list is not empty because of it."""
    return text if text in get_args(SortOrder) else None


Name = Annotated[Annotated[str, Field(max_length=100)] | None, BeforeValidator(clear_blank)]


class SectionQuery(Wire):
    """A page of apps: of `category` or `capability`, or without both of every section."""

    category: Name = None
    capability: Name = None
    offset: int = Field(default=0, ge=0, le=MAX_OFFSET)
    limit: int = Field(default=20, ge=1, le=100)


class SearchQuery(SectionQuery):
    """What to search for; filters that are left out allow everything."""

    q: Annotated[
        Annotated[str, Field(max_length=MAX_QUERY_CHARS)] | None, BeforeValidator(clear_blank)
    ] = None
    rating: Annotated[
        Annotated[float, Field(ge=0, le=5)] | None, BeforeValidator(_parse_rating)
    ] = None
    sort: Annotated[SortOrder | None, BeforeValidator(_parse_sort)] = None
    my_apps: bool = False
    installed_apps: bool = False

    def to_criteria(self) -> Criteria:
        return Criteria(
            words=(self.q or "").split(),
            category=self.category,
            section=self.capability,
            min_rating=self.rating or 0.0,
            is_own=self.my_apps,
            is_installed=self.installed_apps,
            sort=self.sort,
        )


class HeadingOut(Wire):
    """A section, category or capability."""

    id: str
    title: str


class PaginationOut(Wire):
    """Where a page stands in its list."""

    total: int
    count: int
    offset: int
    limit: int
    has_more: bool


class FiltersOut(Wire):
    """The filters that were applied."""

    q: str | None
    category: str | None
    rating: float | None
    capability: str | None
    sort: str | None
    my_apps: bool
    installed_apps: bool


class AppPageOut(Wire):
    """A page of apps."""

    data: list[AppOut]
    pagination: PaginationOut
    category: HeadingOut | None = None
    capability: HeadingOut | None = None
    filters: FiltersOut | None = None


class SectionOut(Wire):
    """A section with its first apps."""

    capability: HeadingOut
    data: list[AppOut]
    pagination: PaginationOut


class SectionsOut(Wire):
    """Sections that have apps."""

    groups: list[SectionOut]


class CategoryGroupOut(Wire):
    """A category with its first apps; `count` is how many it has."""

    category: HeadingOut
    data: list[AppOut]
    count: int


class TotalsOut(Wire):
    """How many apps and categories there are in all."""

    totalApps: int  # noqa: N815 - the spelling that released clients read
    groupCount: int  # noqa: N815 - as above


class CapabilityGroupsOut(Wire):
    """The apps of a capability, by category."""

    groups: list[CategoryGroupOut]
    capability: HeadingOut
    meta: TotalsOut


class ChoiceOut(HeadingOut):
    """Something that a developer's form offers."""

    description: str | None
    doc_url: str | None = None

    @classmethod
    def of(cls, choice: Choice) -> "ChoiceOut":
        return cls(id=choice.id, title=choice.title, description=choice.description)


class CapabilityOut(HeadingOut):
    """A capability, and what an app that has it chooses further."""

    triggers: list[ChoiceOut]
    scopes: list[ChoiceOut]
    actions: list[ChoiceOut]

    @classmethod
    def of(cls, capability: Capability) -> "CapabilityOut":
        return cls(
            id=capability.id,
            title=capability.title,
            triggers=[ChoiceOut.of(choice) for choice in capability.triggers],
            scopes=[ChoiceOut.of(choice) for choice in capability.scopes],
            actions=[ChoiceOut.of(choice) for choice in capability.actions],
        )


def build_category_headings() -> list[HeadingOut]:
    return [HeadingOut(id=id_, title=title) for id_, title in CATEGORIES.items()]


def build_heading(group: AppGroup) -> HeadingOut:
    return HeadingOut(id=group.id, title=group.title)


def build_pagination(*, total: int, count: int, offset: int, limit: int) -> PaginationOut:
    return PaginationOut(
        total=total, count=count, offset=offset, limit=limit, has_more=offset + limit < total
    )
