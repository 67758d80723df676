"""Wiring of ports to adapters: one function for each port, which builds it once per process.

The world (KEEPSAKE_WORLD) builds the adapters; here they get what is the same in both. Vendors are
imported inside the functions, so that an entry point loads only what it uses.

Also called: composition root, dependency injection.
"""

from __future__ import annotations

import json
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from shared import telemetry
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
from shared.adapters.omi_documents import OmiDocuments
from shared.adapters.system_clock import RandomIds, SystemClock
from shared.adapters.traced_messages import TracedEvents, TracedTasks
from shared.data.store.omi_form import OmiForm
from shared.data.stores import Stores
from shared.domain.apps.service_calls import ServiceCalls, parse_service_calls
from shared.settings import Settings, SettingsError, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared import ports
    from shared.adapters.embedded.sqlite_queue import SqliteQueue
    from shared.adapters.sharded_vectors import ShardedVectors
    from shared.adapters.web_push_keys import WebPushKeys
    from shared.data.account.data_keys import DataKeys
    from shared.data.account.erasures import ErasureCache, Erasures
    from shared.data.account.quotas import Quotas
    from shared.data.account.sign_outs import SignOutCache
    from shared.data.account.vector_homes import VectorHomeCache, VectorHomes
    from shared.data.apps.signing_secrets import SigningSecrets
    from shared.data.chats.crisis_log import CrisisLog
    from shared.domain.account.account import Erasure
    from shared.domain.files.wearable_name import WearableName
    from shared.domain.ids import UserId
    from shared.domain.store.vector_home import VectorHome
    from shared.security.delegations import Delegations
    from shared.security.pseudonyms import Pseudonyms
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
def world() -> World:
    if settings().world == "cloud":
        from shared.worlds.cloud import CloudWorld

        return CloudWorld(settings(), machine_clock())
    return _embedded_world()


@cache
def _embedded_world() -> EmbeddedWorld:
    from shared.worlds.embedded import EmbeddedWorld

    return EmbeddedWorld(settings(), machine_clock(), routes(), INDEXES)


def queue() -> SqliteQueue:
    """Return the queue of the embedded world; in the cloud, vendors deliver."""
    return _embedded_world().queue


@cache
def documents() -> ports.Documents:
    return FencedDocuments(_metered_documents(), _fence())


@cache
def _metered_documents() -> ports.Documents:
    return MeteredDocuments(OmiDocuments(_all_documents(), omi_form()))


@cache
def omi_form() -> OmiForm:
    """Return the form in which conversations of Omi's own backend are stored."""
    return OmiForm(secret=settings().omi_encryption_secret, level=settings().omi_documents)


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
def data_keys() -> DataKeys:
    from shared.data.account.data_keys import DataKeys

    return DataKeys(documents(), sealing_keys, clock())


def _open_memory_documents() -> ports.Documents:
    from shared.adapters.embedded.sqlite_documents import SqliteDocuments
    from shared.adapters.firestore_indexes import FirestoreIndexes
    from shared.adapters.memory_database import MemoryDatabase

    return SqliteDocuments(MemoryDatabase(), FirestoreIndexes.read(INDEXES))


@cache
def quotas() -> Quotas:
    from shared.data.account.quotas import Quotas

    return Quotas(documents(), settings().quotas)


@cache
def _all_documents() -> AllDocuments:
    return world().build_documents()


@cache
def erasures() -> Erasures:
    from shared.data.account.erasures import Erasures

    return Erasures(_metered_documents(), pseudonyms())


@cache
def crisis_log() -> CrisisLog:
    from shared.data.chats.crisis_log import CrisisLog

    return CrisisLog(documents(), pseudonyms())


@cache
def pseudonyms() -> Pseudonyms:
    from shared.security.pseudonyms import Pseudonyms

    return Pseudonyms(world().read_pseudonym_key())


def erasure_note() -> str:
    """Return what outlives an erasure in this world, in words for people."""
    return world().erasure_note


def erasure_grace() -> timedelta:
    """Return how long an erasure waits for work that began before; longer than its cache is stale."""
    return world().erasure_grace


@cache
def _erasure_cache() -> ErasureCache:
    from shared.data.account.erasures import ErasureCache

    return ErasureCache(erasures(), clock(), world().erasure_staleness)


@cache
def _sign_out_cache() -> SignOutCache:
    from shared.data.account.sign_outs import SignOutCache, SignOuts

    return SignOutCache(SignOuts(_metered_documents()), clock(), world().erasure_staleness)


async def _find_erasure(uid: UserId) -> Erasure | None:
    return await _erasure_cache().get(uid)


async def _read_erasure(uid: UserId) -> Erasure | None:
    return await erasures().get(uid)


@cache
def _fence() -> ErasureFence:
    return ErasureFence(_find_erasure, _read_erasure, clock(), telemetry.measure_elapsed_s)


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


async def _find_vector_home(uid: UserId) -> VectorHome:
    return await _vector_home_cache().get(uid)


@cache
def _vector_home_cache() -> VectorHomeCache:
    from shared.data.account.vector_homes import VectorHomeCache

    return VectorHomeCache(vector_homes(), clock(), _HOME_STALENESS)


def sharded_vectors() -> ShardedVectors:
    """Return the index of many shards. Raises SettingsError where there are none to move users between."""
    from shared.adapters.sharded_vectors import ShardedVectors

    vectors = _unfenced_vectors()
    if not isinstance(vectors, ShardedVectors):
        raise SettingsError("The index has one shard: PINECONE_SPARSE_HOSTS names several")
    return vectors


@cache
def vector_homes() -> VectorHomes:
    from shared.data.account.vector_homes import VectorHomes

    return VectorHomes(stores().profiles)


def move_pause() -> timedelta:
    """Return how long a move waits for processes that go by an old home, with what they then write."""
    return _HOME_STALENESS + timedelta(seconds=60)


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
def _read_web_push_keys() -> WebPushKeys:
    return world().read_web_push_keys()


@cache
def web_push_key() -> str:
    """Return the key that browsers subscribe with."""
    return _read_web_push_keys().to_application_server_key()


@cache
def identity() -> ports.Identity:
    return GuardedIdentity(world().build_identity(), _find_erasure, _sign_out_cache().find)


@cache
def service_identity() -> ports.ServiceIdentity:
    return world().build_service_identity(service_calls())


@cache
def delegations() -> Delegations:
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
def signing_secrets() -> SigningSecrets:
    from shared.data.apps.signing_secrets import SigningSecrets

    return SigningSecrets(signing_keys())


@cache
def egress() -> ports.Egress:
    from shared.adapters.guarded_egress import GuardedEgress

    return GuardedEgress(
        dev_origins=settings().egress_dev_origins,
        own_origins=settings().own_origins,
        allows_local=settings().serves_this_machine_alone,
    )


def wearable_addresses() -> Mapping[WearableName, str]:
    return settings().wearable_addresses


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
