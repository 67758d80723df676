"""Directory of apps: the sections, categories and searches in which users find apps.

Whatever is asked, the store is not read as a whole: one chooses among listings, which are cached, and
reads the apps of a page.

Also called: app store, marketplace.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from functions.tool_proxy.deps import ToolProxyDeps
from shared.data.apps.app_listings import AppListing
from shared.domain.apps.app import POPULAR_INSTALLS, App, InstalledApp
from shared.domain.apps.app_catalog import CATEGORIES, POPULAR, SECTIONS, SortOrder
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, UserId
from shared.domain.value import value

MAX_POPULAR = 20
MAX_APPS_PER_SECTION = 20


@value
class Criteria:
    """What somebody looks for; an empty field allows everything. `words` must all occur."""

    words: Sequence[str] = ()
    category: str | None = None
    section: str | None = None
    min_rating: float = 0.0
    is_own: bool = False
    is_installed: bool = False
    sort: SortOrder | None = None


@value
class Directory:
    """The apps that a user may see, as listings, and their installations and own apps among them."""

    listings: Mapping[AppId, AppListing]
    own_ids: frozenset[AppId] = frozenset()
    installations: Mapping[AppId, InstalledApp] = field(default_factory=dict)

    def find(self, criteria: Criteria) -> list[AppListing]:
        """Return the listings that match, the best first."""
        found = [listing for listing in self.listings.values() if self._matches(listing, criteria)]
        found.sort(key=_get_name, reverse=criteria.sort == "name_desc")
        found.sort(key=_SORT_KEYS[criteria.sort or "installs_desc"])
        return found

    def _matches(self, listing: AppListing, criteria: Criteria) -> bool:
        return (
            (not criteria.is_own or listing.id in self.own_ids)
            and (not criteria.is_installed or listing.id in self.installations)
            and (criteria.category is None or listing.category == criteria.category)
            and (criteria.section is None or _is_in_section(listing, criteria.section))
            and listing.rating.average >= criteria.min_rating
            and _contains_words(listing, criteria.words)
        )


@value
class AppGroup:
    """The first apps of a section or category; `count` is how many it has in all."""

    id: str
    title: str
    apps: Sequence[tuple[App, InstalledApp | None]]
    count: int


async def load_directory(deps: ToolProxyDeps, uid: UserId) -> Directory:
    """Return the public apps, the user's own and those that they installed."""
    public_listings, installed_apps, own_apps = await asyncio.gather(
        deps.listings.list_public(),
        deps.stores.installed_apps.list_all(uid),
        deps.stores.apps.list_owned(uid),
    )
    installations = {entry.app_id: entry for entry in installed_apps}
    listings = {listing.id: listing for listing in public_listings}
    missing_ids = sorted(installations.keys() - listings.keys() - {app.id for app in own_apps})
    older_apps = [a for a in await deps.stores.apps.get_many(missing_ids) if a.is_visible_to(uid)]
    fresh_listings = {app.id: AppListing.of(app) for app in (*own_apps, *older_apps)}
    return Directory(
        listings={**listings, **fresh_listings},
        own_ids=frozenset(app.id for app in own_apps),
        installations=installations,
    )


async def load_apps(
    deps: ToolProxyDeps, uid: UserId, directory: Directory, listings: Iterable[AppListing]
) -> list[tuple[App, InstalledApp | None]]:
    """Read apps as they are now; one that was deleted or made private meanwhile is left out."""
    apps = await deps.stores.apps.get_many([listing.id for listing in listings])
    return [(app, directory.installations.get(app.id)) for app in apps if app.is_visible_to(uid)]


async def list_sections(
    deps: ToolProxyDeps, uid: UserId, *, offset: int, limit: int
) -> list[AppGroup]:
    """List the sections that have apps, each with a page of them."""
    directory = await load_directory(deps, uid)
    found = {id_: directory.find(Criteria(section=id_)) for id_ in SECTIONS}
    size = min(limit, MAX_APPS_PER_SECTION)
    pages = {id_: listings[offset : offset + size] for id_, listings in found.items()}
    return await _build_groups(deps, uid, directory, SECTIONS, found, pages)


async def list_categories_of(deps: ToolProxyDeps, uid: UserId, section: str) -> list[AppGroup]:
    """List the categories of a section's apps. Raises NotFound for an unknown section."""
    if section not in SECTIONS:
        raise NotFound("Capability not found")
    directory = await load_directory(deps, uid)
    found = {id_: directory.find(Criteria(section=section, category=id_)) for id_ in CATEGORIES}
    pages = {id_: listings[:MAX_APPS_PER_SECTION] for id_, listings in found.items()}
    return await _build_groups(deps, uid, directory, CATEGORIES, found, pages)


async def _build_groups(
    deps: ToolProxyDeps,
    uid: UserId,
    directory: Directory,
    titles: Mapping[str, str],
    found: Mapping[str, Sequence[AppListing]],
    pages: Mapping[str, Sequence[AppListing]],
) -> list[AppGroup]:
    """Read the apps of all pages at once, and leave out empty groups."""
    listings = {listing.id: listing for page in pages.values() for listing in page}
    loaded = await load_apps(deps, uid, directory, listings.values())
    apps = {app.id: (app, installation) for app, installation in loaded}
    groups = [
        AppGroup(
            id=id_,
            title=titles[id_],
            apps=[apps[listing.id] for listing in page if listing.id in apps],
            count=len(found[id_]),
        )
        for id_, page in pages.items()
    ]
    return [group for group in groups if group.apps]


async def list_popular(deps: ToolProxyDeps, uid: UserId) -> list[tuple[App, InstalledApp | None]]:
    directory = await load_directory(deps, uid)
    listings = directory.find(Criteria(section=POPULAR))
    return await load_apps(deps, uid, directory, listings[:MAX_POPULAR])


def _is_in_section(listing: AppListing, section: str) -> bool:
    if section == POPULAR:
        return listing.installs >= POPULAR_INSTALLS
    return section in listing.capabilities


def _contains_words(listing: AppListing, words: Sequence[str]) -> bool:
    text = f"{listing.name}\n{listing.author}\n{listing.description}".casefold()
    return all(word.casefold() in text for word in words)


def _get_name(listing: AppListing) -> tuple[str, AppId]:
    return listing.name.casefold(), listing.id


_SORT_KEYS: Mapping[SortOrder, Callable[[AppListing], Any]] = {
    "installs_desc": lambda a: (-a.installs, -a.rating.average),
    "rating_desc": lambda a: (-a.rating.average, -a.rating.count),
    "rating_asc": lambda a: a.rating.average,
    "created_desc": lambda a: -a.created_at.timestamp(),
    "name_asc": lambda _: 0,
    "name_desc": lambda _: 0,
}
"""Ties stay in the order of names, so that pages do not overlap."""
