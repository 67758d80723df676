"""Delivery of jobs to the entry points of the same process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.types import ASGIApp

from infra.local.queue_worker import HttpDelivery, QueueWorker
from shared import wiring
from shared.adapters.embedded.local_identity import read_secret
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.settings import Settings


@asynccontextmanager
async def open_queue_worker(
    settings: Settings, internal_app: ASGIApp
) -> AsyncIterator[QueueWorker]:
    """Yield a worker of the embedded queue that calls `internal_app`.

    A request in the same process needs no connection, which is half of the work of a small job.
    """
    transport = httpx.ASGITransport(internal_app, raise_app_exceptions=False)
    service_identity = LocalServiceIdentity(
        read_secret(settings.data_dir), wiring.service_calls(), wiring.clock()
    )
    async with httpx.AsyncClient(transport=transport) as client:
        deliver = HttpDelivery(
            client, service_identity, url="http://localhost/{}/".format, project=settings.project
        )
        yield QueueWorker(wiring.queue(), deliver)
