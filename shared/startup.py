"""Start of a process: the log, the traces, and what its first request needs."""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

from shared import spans, telemetry
from shared.wiring import settings, world

_PRELOADED_ADAPTERS: Mapping[str, Mapping[str, str]] = {
    "embedded": {
        "documents": "embedded.sqlite_documents",
        "vectors": "embedded.sqlite_vectors",
        "model": "embedded.offline.offline_model",
    },
    "cloud": {
        "documents": "cloud.firestore_documents",
        "vectors": "cloud.pinecone_vectors",
        "model": "cloud.openai_model",
    },
}


def start(*, adapters: Sequence[str], stores: Sequence[str]) -> None:
    """Set up the log, and import the adapters and stores that the first request needs.

    The platform gives an instance more CPU while it starts. Where the loop that will serve runs already,
    documents are connected to while the rest is imported; else with the first request, because gunicorn
    loads a function in one process and serves it in another.
    """
    in_cloud = settings().world == "cloud"
    telemetry.configure(settings().project if in_cloud else None)
    spans.send_to(_send_spans(), share=settings().trace_share)
    if _is_loop_running():
        world().connect()
    for port in adapters:
        import_module(f"shared.adapters.{_PRELOADED_ADAPTERS[settings().world][port]}")
    for store in stores:
        import_module(f"shared.data.{store}")
    gc.freeze()  # loaded code is never garbage
    gc.set_threshold(50_000, 20, 20)


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@cache
def _send_spans() -> spans.SendSpans | None:
    endpoint = settings().otlp_endpoint
    if endpoint is None:
        return None
    from shared.adapters.otlp_spans import OtlpSpans

    return OtlpSpans(endpoint=endpoint, headers=settings().otlp_headers).send
