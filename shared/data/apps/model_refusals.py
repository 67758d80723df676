"""Refusals of an app's tools by models, for its developer: once a tool, model and day, for a week."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from shared.data.apps.call_log import CALL_LOG_TTL
from shared.data.store.codec import dump, load_all
from shared.domain.apps.app import ModelRefusal
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import AppId
from shared.domain.store.documents import Create, Order, Query, Where

if TYPE_CHECKING:
    from shared.ports import Documents


class ModelRefusals:
    """Refusals by app; one whose id is known is not written again."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def add(self, app_id: AppId, refusal: ModelRefusal) -> None:
        fields = {**dump(refusal), "expires_at": refusal.at + CALL_LOG_TTL}
        with suppress(PreconditionFailed):
            await self._documents.write(Create(f"{_collection_path(app_id)}/{refusal.id}", fields))

    async def list_newest(
        self, app_id: AppId, *, since: datetime, limit: int
    ) -> Sequence[ModelRefusal]:
        query = Query(
            collection=_collection_path(app_id),
            where=(Where("at", ">", since),),
            order_by=(Order("at", "desc"),),
            limit=limit,
        )
        return load_all(ModelRefusal, await self._documents.query(query))


def _collection_path(app_id: AppId) -> str:
    return f"apps/{app_id}/model_refusals"
