"""App listings: the part of each public app by which lists choose and sort, read once a minute.

No list reads the whole store of apps: it chooses among the listings, and reads the apps of its page.
"""

import asyncio
from datetime import datetime, timedelta

from shared.data.store.codec import load_all
from shared.domain.apps.app import App, Rating
from shared.domain.ids import AppId
from shared.domain.store.documents import Order, Query, Where
from shared.domain.value import value
from shared.ports import Clock, Documents

LISTING_TTL = timedelta(seconds=60)
MAX_LISTED = 2_000
"""The newest public apps; an instance that is asked for lists reads so many fields a minute."""
MAX_DESCRIPTION_CHARS = 300
_FIELDS = (
    "name",
    "author",
    "description",
    "category",
    "capabilities",
    "installs",
    "rating",
    "created_at",
)


@value
class AppListing:
    """An app as lists choose and sort it; `description` is its beginning."""

    id: AppId
    name: str
    created_at: datetime
    author: str = ""
    description: str = ""
    category: str = "other"
    capabilities: tuple[str, ...] = ()
    installs: int = 0
    rating: Rating = Rating()

    @classmethod
    def of(cls, app: App) -> "AppListing":
        return cls(
            id=app.id,
            name=app.name,
            created_at=app.created_at,
            author=app.author,
            description=app.description[:MAX_DESCRIPTION_CHARS],
            category=app.category,
            capabilities=app.capabilities,
            installs=app.installs,
            rating=app.rating,
        )


class AppListings:
    """The listings of public apps, at most LISTING_TTL old."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock
        self._read_at: datetime | None = None
        self._listings: list[AppListing] = []
        self._lock = asyncio.Lock()

    async def list_public(self) -> list[AppListing]:
        """Return the newest MAX_LISTED public apps, and those that this instance changed."""
        async with self._lock:
            now = self._clock.now()
            if self._read_at is None or now >= self._read_at + LISTING_TTL:
                self._listings = await self._read()
                self._read_at = now
            return self._listings

    def put(self, app: App) -> None:
        """Show an app as this instance changed it, without reading the others anew.

        Nobody can make an instance read them all by changing an app again and again.
        """
        self.remove(app.id)
        if not app.private:
            self._listings = [AppListing.of(app), *self._listings]

    def remove(self, app_id: AppId) -> None:
        self._listings = [listing for listing in self._listings if listing.id != app_id]

    async def _read(self) -> list[AppListing]:
        query = Query(
            collection="apps",
            where=(Where("private", "==", False),),  # noqa: FBT003 - a stored value
            order_by=(Order("created_at", "desc"),),
            limit=MAX_LISTED,
            fields=_FIELDS,
        )
        return load_all(AppListing, await self._documents.query(query))
