"""Wiring of ports to adapters: one function for each port, which builds it once per process.

The world (KEEPSAKE_WORLD) decides the adapter. Vendors are imported inside the functions, so that an
entry point loads only what it uses.
"""

import gc
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args
from urllib.parse import urlsplit

from shared import ports, telemetry
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
from shared.data.stores import Stores
from shared.domain.local_address import is_local_url
from shared.domain.service_calls import ServiceCalls, parse_service_calls
from shared.settings import Settings, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.adapters.cloud.firestore_documents import FirestoreDocuments
    from shared.adapters.cloud.openai_model import OpenaiModel
    from shared.adapters.embedded.chosen import Chosen
    from shared.adapters.embedded.model_file import ModelSetup
    from shared.adapters.embedded.sqlite_database import SqliteDatabase
    from shared.adapters.embedded.sqlite_documents import SqliteDocuments
    from shared.adapters.embedded.sqlite_queue import SqliteQueue
    from shared.adapters.sharded_vectors import ShardedVectors
    from shared.data.crisis_log import CrisisLog
    from shared.data.data_keys import DataKeys
    from shared.data.erasures import ErasureCache, Erasures
    from shared.data.quotas import Quotas
    from shared.data.vector_homes import VectorHomes
    from shared.domain.account import Erasure
    from shared.domain.ids import UserId
    from shared.domain.model import ModelRole
    from shared.domain.model_failure import ModelPlace
    from shared.domain.vector_home import Shard
    from shared.security.delegations import Delegations

T = TypeVar("T")
ROOT = Path(__file__).parents[1]


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

    Imports alone, no connections: the platform gives an instance more CPU while it starts.
    """
    in_cloud = settings().world == "cloud"
    telemetry.configure(settings().project if in_cloud else None)
    for port in adapters:
        import_module(f"shared.adapters.{_PRELOADED_ADAPTERS[settings().world][port]}")
    for store in stores:
        import_module(f"shared.data.{store}")
    gc.freeze()  # loaded code is never garbage


@cache
def clock() -> ports.Clock:
    return SystemClock()


@cache
def new_id() -> ports.NewId:
    return RandomIds()


@cache
def database() -> "SqliteDatabase":
    """Open DATA_DIR/keepsake.db, which holds everything of the embedded world."""
    from shared.adapters.embedded.sqlite_database import SqliteDatabase

    return SqliteDatabase(settings().data_dir / "keepsake.db")


@cache
def queue() -> "SqliteQueue":
    """Open the queue in the same file, so that a write and its triggers are one transaction."""
    from shared.adapters.embedded.sqlite_queue import SqliteQueue

    return SqliteQueue(database(), clock(), dead_letter_target=str(routes()["dead_letters"]))


@cache
def documents() -> ports.Documents:
    return FencedDocuments(_metered_documents(), _fence())


@cache
def _metered_documents() -> ports.Documents:
    return MeteredDocuments(_build_documents())


def due_documents() -> ports.DueDocuments:
    """Return the unfinished work of all users, for the sweep."""
    return _build_documents()


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

    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    return SqliteDocuments(MemoryDatabase(), indexes)


@cache
def quotas() -> "Quotas":
    from shared.data.quotas import Quotas

    return Quotas(documents(), settings().quotas)


@cache
def _build_documents() -> "FirestoreDocuments | SqliteDocuments":
    if settings().world == "cloud":
        from google.cloud.firestore import AsyncClient

        from shared.adapters.cloud.firestore_documents import FirestoreDocuments

        return FirestoreDocuments(AsyncClient(project=settings().project))
    from shared.adapters.embedded.sqlite_documents import SqliteDocuments
    from shared.adapters.embedded.sqlite_queue import SqliteTriggers
    from shared.adapters.firestore_indexes import FirestoreIndexes

    return SqliteDocuments(
        database(),
        FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json"),
        on_change=SqliteTriggers(queue(), routes()["triggers"]),
    )


@cache
def erasures() -> "Erasures":
    from shared.data.erasures import Erasures
    from shared.security.pseudonyms import Pseudonyms

    return Erasures(_metered_documents(), Pseudonyms(_read_pseudonym_key()))


@cache
def crisis_log() -> "CrisisLog":
    from shared.data.crisis_log import CrisisLog
    from shared.security.pseudonyms import Pseudonyms

    return CrisisLog(documents(), Pseudonyms(_read_pseudonym_key()))


def _read_pseudonym_key() -> bytes:
    if settings().world == "cloud":
        return _require("PSEUDONYM_KEY", settings().pseudonym_key).encode()
    from shared.adapters.embedded.local_identity import read_secret

    return read_secret(settings().data_dir)


def erasure_note() -> str:
    """Return what outlives an erasure in this world, in words for people."""
    if settings().world == "cloud":
        return (
            "Backups of the database expire within 7 days. Logs expire within 30 days and hold "
            "neither your words nor your id."
        )
    return (
        "Nothing stays but a keyed hash of your id and the time. Copies of the data folder that you "
        "made are yours to delete."
    )


def erasure_grace() -> timedelta:
    """Return how long an erasure waits for work that began before; longer than its cache is stale."""
    in_cloud = settings().world == "cloud"
    return _erasure_staleness() + timedelta(seconds=15 if in_cloud else 0.5)


def _erasure_staleness() -> timedelta:
    """Return how late an instance may notice that an account is being erased."""
    return timedelta(seconds=30 if settings().world == "cloud" else 0.5)


@cache
def _erasure_cache() -> "ErasureCache":
    from shared.data.erasures import ErasureCache

    return ErasureCache(erasures(), clock(), _erasure_staleness())


async def _find_erasure(uid: "UserId") -> "Erasure | None":
    return await _erasure_cache().get(uid)


@cache
def _fence() -> ErasureFence:
    return ErasureFence(_find_erasure, clock(), telemetry.measure_elapsed_s)


@cache
def residual_data() -> ports.ResidualData:
    if settings().world == "cloud":
        from shared.adapters.cloud.firebase_identity import FirebaseResidualData

        return FirebaseResidualData(project=settings().project)
    from shared.adapters.embedded.sqlite_residual_data import SqliteResidualData

    return SqliteResidualData(queue(), clock())


@cache
def blobs() -> ports.Blobs:
    return FencedBlobs(_build_blobs(), _fence())


def _build_blobs() -> ports.Blobs:
    if settings().world == "cloud":
        from shared.adapters.cloud.gcs_blobs import GcsBlobs

        return GcsBlobs(
            _require("BLOBS_BUCKET", settings().blobs_bucket), address=_find_stand_in("storage")
        )
    from shared.adapters.embedded.disk_blobs import DiskBlobs

    return DiskBlobs(settings().data_dir / "blobs")


@cache
def vectors() -> ports.Vectors:
    return FencedVectors(_build_vectors(), _fence())


def _build_vectors() -> ports.Vectors:
    if settings().world == "cloud":
        shards = settings().pinecone_shards
        return sharded_vectors() if len(shards) > 1 else _build_shard(*shards)
    from shared.adapters.embedded.sqlite_vectors import SqliteVectors

    return SqliteVectors(database())


@cache
def sharded_vectors() -> "ShardedVectors":
    """Build the index of many shards. Raises SettingsError where there are none to move users between."""
    from shared.adapters.sharded_vectors import ShardedVectors
    from shared.data.vector_homes import VectorHomeCache

    shards = settings().pinecone_shards
    if settings().world != "cloud" or len(shards) < 2:
        raise SettingsError("The index has one shard: PINECONE_SPARSE_HOSTS names several")
    homes = VectorHomeCache(vector_homes(), clock(), _HOME_STALENESS)
    return ShardedVectors([(shard.buckets, _build_shard(shard)) for shard in shards], homes.get)


def _build_shard(shard: "Shard | None" = None) -> ports.Vectors:
    from shared.adapters.cloud.pinecone_vectors import PineconeVectors

    api_key = _require("PINECONE_API_KEY", settings().pinecone_api_key)
    if shard is None:
        raise SettingsError("PINECONE_SPARSE_HOST is missing: the cloud world needs it")
    return PineconeVectors(
        api_key=api_key, sparse_host=shard.sparse_host, dense_host=shard.dense_host
    )


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

    return MaskedEmbedder(built, secret=_read_pseudonym_key())


def _masks_embedder() -> bool:
    """Decide it for all users alike: what was masked is found only by masked questions."""
    is_local = settings().embedder == "local" or is_local_url(settings().openai_base_url)
    return settings().masking == "on" or (settings().masking == "auto" and not is_local)


def _build_embedder() -> ports.Embedder | None:
    if settings().embedder == "local":
        from shared.adapters.embedded.local_embedder import LocalEmbedder

        return LocalEmbedder()
    has_dense_index = any(shard.dense_host for shard in settings().pinecone_shards)
    if settings().embedder == "openai" or has_dense_index:
        from shared.adapters.cloud.openai_embedder import OpenaiEmbedder

        return OpenaiEmbedder(
            api_key=_require("OPENAI_API_KEY", settings().openai_api_key),
            base_url=settings().openai_base_url,
            model=settings().models["embeddings"],
            clock=clock(),
        )
    return None


@cache
def model() -> ports.Models:
    from shared.adapters.masked_model import MaskedModels

    secret = _read_pseudonym_key()
    return MaskedModels(_build_model(), masking=settings().masking, secret=secret)


def _build_model() -> ports.ChatModel:
    """Build the model: with a key OpenAI's, with fallbacks; without one, if embedded, the console's."""
    if settings().openai_api_key is None and settings().world == "embedded":
        from shared.adapters.embedded.configured_model import ConfiguredModel

        return ConfiguredModel(_follow_model_file(_build_chosen_model))
    from shared.adapters.resilient_model import ResilientModel

    primaries, fallbacks = _build_models(settings().models), _build_fallbacks()
    models_by_role = {
        role: [model, fallbacks[role]] if role in fallbacks else [model]
        for role, model in primaries.items()
    }
    return ResilientModel(models_by_role, clock())


def _build_chosen_model(setup: "ModelSetup | None") -> ports.ChatModel:
    """Build the model that was chosen in the console; without a choice, the offline model."""
    if setup is None:
        from shared.adapters.embedded.offline.offline_model import OfflineModel

        return OfflineModel()
    from shared.adapters.cloud.openai_model import OpenaiModel
    from shared.adapters.resilient_model import ResilientModel
    from shared.domain.model import ModelRole

    roles = get_args(ModelRole)
    names = {role: setup.small_model if role == "fast" else setup.model for role in roles}
    openai = OpenaiModel(
        api_key=setup.api_key,
        base_url=setup.base_url,
        models=names,
        prices=settings().token_prices,
    )
    return ResilientModel({role: [openai] for role in roles}, clock())


def _follow_model_file(build: "Callable[[ModelSetup | None], T]") -> "Chosen[T]":
    """Build what the console chooses, and again when it chooses anew."""
    from shared.adapters.embedded.chosen import Chosen
    from shared.adapters.embedded.model_file import ModelFile

    return Chosen(ModelFile(settings().data_dir), build)


@cache
def moderator() -> ports.Moderator:
    """Build what rates questions: OpenAI, whose key the settings or the console have, or nobody."""
    if key := settings().openai_api_key:
        return _build_moderator(key, settings().openai_base_url)
    if settings().world == "cloud":
        from shared.adapters.silent_moderator import SilentModerator

        return SilentModerator()
    from shared.adapters.embedded.configured_moderator import ConfiguredModerator

    return ConfiguredModerator(_follow_model_file(_build_chosen_moderator))


def _build_chosen_moderator(setup: "ModelSetup | None") -> ports.Moderator:
    if setup is None or setup.kind != "openai":
        from shared.adapters.silent_moderator import SilentModerator

        return SilentModerator()
    return _build_moderator(setup.api_key, setup.base_url)


def _build_moderator(api_key: str, base_url: str) -> ports.Moderator:
    from shared.adapters.cloud.openai_moderator import OpenaiModerator

    return OpenaiModerator(api_key=api_key, base_url=base_url, clock=clock())


def model_place() -> "ModelPlace":
    """Say where the model is set, for those who ask it."""
    if settings().world == "cloud" or settings().allow_remote:
        return "service"
    return "environment" if settings().openai_api_key else "console"


def _build_models(models: Mapping[str, str]) -> dict["ModelRole", "OpenaiModel"]:
    """Build a client for each role: persona roles use OpenRouter, the others share one client."""
    from shared.adapters.cloud.openai_model import OpenaiModel
    from shared.domain.model import ModelRole

    openai = OpenaiModel(
        api_key=_require("OPENAI_API_KEY", settings().openai_api_key),
        base_url=settings().openai_base_url,
        models=models,
        windows=settings().model_windows,
        prices=settings().token_prices,
    )
    openrouter = OpenaiModel(
        api_key=settings().openrouter_api_key,
        base_url=settings().openrouter_base_url,
        models=models,
        windows=settings().model_windows,
        prices=settings().token_prices,
    )
    return {
        role: openrouter if role.startswith("persona") else openai
        for role in get_args(ModelRole)
        if role in models
    }


def _build_fallbacks() -> dict["ModelRole", "OpenaiModel"]:
    """Build the fallback of each role, at the role's provider or at FALLBACK_BASE_URL."""
    from shared.adapters.cloud.openai_model import OpenaiModel

    models = settings().fallback_models
    models_by_role = _build_models(models)
    url = settings().fallback_base_url
    if url is None:
        return models_by_role
    fallback_model = OpenaiModel(
        api_key=settings().fallback_api_key,
        base_url=url,
        models=models,
        windows=settings().model_windows,
        prices=settings().token_prices,
    )
    return dict.fromkeys(models_by_role, fallback_model)


@cache
def transcriber() -> ports.Transcriber:
    """Build what turns speech into text, if a key or a server of one's own is set.

    A server at TRANSCRIPTION_BASE_URL is sent no key but TRANSCRIPTION_API_KEY.
    """
    url, key = settings().transcription_base_url, settings().transcription_api_key
    if url or key:
        return _build_transcriber(key, url or settings().openai_base_url)
    if settings().openai_api_key:
        return _build_transcriber(settings().openai_api_key, settings().openai_base_url)
    if settings().world == "cloud":
        from shared.adapters.missing_transcriber import MissingTranscriber

        return MissingTranscriber()
    from shared.adapters.embedded.configured_transcriber import ConfiguredTranscriber

    return ConfiguredTranscriber(_follow_model_file(_build_chosen_transcriber))


def _build_chosen_transcriber(setup: "ModelSetup | None") -> ports.Transcriber:
    """Build OpenAI's where the console has its key; other servers may not turn speech into text."""
    if setup is None or setup.kind != "openai":
        from shared.adapters.missing_transcriber import MissingTranscriber

        return MissingTranscriber()
    return _build_transcriber(setup.api_key, setup.base_url)


def _build_transcriber(api_key: str | None, base_url: str) -> ports.Transcriber:
    from shared.adapters.cloud.openai_transcriber import OpenaiTranscriber

    model = settings().transcription_model
    return OpenaiTranscriber(api_key=api_key or "none", base_url=base_url, model=model)


def realtime() -> ports.Realtime:
    """Build what lets users speak with a model: OpenAI, whose key the settings or the console have."""
    from shared.adapters.missing_realtime import MissingRealtime

    if key := settings().openai_api_key:
        return _build_realtime(key, settings().openai_base_url)
    if settings().world == "cloud":
        return MissingRealtime()
    from shared.adapters.embedded.model_file import ModelFile

    setup = ModelFile(settings().data_dir).load()
    if setup is None or setup.kind != "openai":
        return MissingRealtime()
    return _build_realtime(setup.api_key, setup.base_url)


def _build_realtime(api_key: str, base_url: str) -> ports.Realtime:
    from shared.adapters.cloud.openai_realtime import OpenaiRealtime
    from shared.security.pseudonyms import Pseudonyms

    return OpenaiRealtime(
        api_key=api_key,
        base_url=base_url,
        model=settings().realtime_model,
        hash_user=Pseudonyms(_read_pseudonym_key()).hash,
    )


@cache
def events() -> ports.Events:
    return FencedEvents(_build_events(), _fence())


def _build_events() -> ports.Events:
    if settings().world == "cloud":
        from shared.adapters.cloud.pubsub_events import PubsubEvents

        return PubsubEvents(project=settings().project)
    from shared.adapters.embedded.sqlite_queue import SqliteEvents

    return SqliteEvents(queue(), routes()["topics"])


@cache
def tasks() -> ports.Tasks:
    return FencedTasks(_build_tasks(), _fence())


def _build_tasks() -> ports.Tasks:
    if settings().world == "cloud":
        from shared.adapters.cloud.google_tasks import GoogleTasks

        return GoogleTasks(
            queues=_require("TASKS_QUEUE", settings().tasks_queue).split(","),
            accounts=settings().task_accounts,
            url=settings().get_function_url,
            audiences=settings().service_audiences,
            address=_find_stand_in("tasks"),
        )
    from shared.adapters.embedded.sqlite_queue import SqliteTasks

    return SqliteTasks(queue())


@cache
def push() -> ports.Push:
    if settings().world == "cloud":
        from shared.adapters.cloud.fcm_push import FcmPush

        return FcmPush(project=settings().project)
    from shared.adapters.embedded.inbox_push import InboxPush
    from shared.adapters.embedded.web_push import WebPush

    host = urlsplit(settings().public_url).hostname or ""
    return WebPush(
        egress(),
        data_dir=settings().data_dir,
        contact=f"keepsake@{host if '.' in host else 'example.org'}",
        other=InboxPush(),
    )


@cache
def identity() -> ports.Identity:
    return GuardedIdentity(_build_identity(), _find_erasure)


def _build_identity() -> ports.Identity:
    if settings().world == "cloud":
        from shared.adapters.cloud.firebase_identity import FirebaseIdentity

        return FirebaseIdentity(project=settings().project)
    from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
    from shared.adapters.embedded.password_file import PasswordFile

    data_dir = settings().data_dir
    return LocalIdentity(read_secret(data_dir), PasswordFile(data_dir))


@cache
def service_identity() -> ports.ServiceIdentity:
    if settings().world == "cloud":
        from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity

        return OidcServiceIdentity(
            service_calls(),
            clock(),
            project=settings().project,
            audiences=settings().service_audiences,
            behind_iam=settings().on_cloud_run,
            **({"certs_url": url} if (url := _find_stand_in("certificates")) else {}),
        )
    from shared.adapters.embedded.local_identity import read_secret
    from shared.adapters.embedded.local_service_identity import LocalServiceIdentity

    return LocalServiceIdentity(read_secret(settings().data_dir), service_calls(), clock())


@cache
def delegations() -> "Delegations":
    """Build what signs and verifies for whom a function calls the tool proxy."""
    from shared.security.delegations import Delegations

    if settings().world == "cloud":
        keys = settings().tool_call_keys, settings().disconnect_keys
    else:
        from shared.adapters.embedded.local_identity import read_secret

        secret = read_secret(settings().data_dir).hex()
        keys = (secret,), (secret,)
    return Delegations({"tool_call": keys[0], "disconnect": keys[1]}, clock())


@cache
def keys() -> ports.Keys:
    """Build the key that wraps users' tokens."""
    return _build_keys("KMS_KEY", settings().kms_key, local_name="keys")


@cache
def sealing_keys() -> ports.Keys:
    """Build the key that wraps users' data keys; who reads sealed chats need not read tokens."""
    return _build_keys("SEALING_KMS_KEY", settings().sealing_kms_key, local_name="sealing_keys")


@cache
def signing_keys() -> ports.Keys:
    """Build the key that wraps apps' signing secrets; who signs need not read tokens."""
    return _build_keys("SIGNING_KMS_KEY", settings().signing_kms_key, local_name="signing_keys")


def _build_keys(setting: str, kms_key: str | None, *, local_name: str) -> ports.Keys:
    if settings().world == "cloud":
        from shared.adapters.cloud.kms_keys import KmsKeys

        return KmsKeys(_require(setting, kms_key), address=_find_stand_in("kms"))
    from shared.adapters.embedded.local_identity import read_secret
    from shared.adapters.embedded.local_keys import LocalKeys

    return LocalKeys(read_secret(settings().data_dir, local_name))


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
        _require(
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


def _find_stand_in(service: str) -> str | None:
    """Return the local server that stands for a service of Google, where one is set."""
    return settings().google_stand_ins.get(service)


def _require(name: str, value: str | None) -> str:
    if not value:
        raise SettingsError(f"{name} is missing: the cloud world needs it")
    return value
