"""Cloud world: Google Cloud and Pinecone, by what Terraform or an operator set.

Also called: GCP, production environment.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from shared import ports
from shared.adapters.store_clock import StoreClock
from shared.domain.errors import Unavailable
from shared.settings import Settings, SettingsError, require

if TYPE_CHECKING:
    from shared.adapters.cloud.firestore_documents import FirestoreDocuments
    from shared.adapters.sharded_vectors import FindHome
    from shared.adapters.web_push_keys import WebPushKeys
    from shared.domain.apps.service_calls import ServiceCalls
    from shared.domain.models.model_failure import ModelPlace
    from shared.domain.store.vector_home import Shard
    from shared.models.known_models import KnownModels
    from shared.security.delegations import Purpose
    from shared.worlds.world import KeyName


class CloudWorld:
    """Nothing falls back here: what is not set raises SettingsError, which names the variable."""

    erasure_note = (
        "Backups of the database expire within 7 days. Logs expire within 30 days and hold "
        "neither your words nor your id."
    )
    erasure_staleness = timedelta(seconds=30)
    erasure_grace = erasure_staleness + timedelta(seconds=15)
    model_place: "ModelPlace" = "service"

    def __init__(self, settings: Settings, machine_clock: ports.Clock) -> None:
        self._settings = settings
        self.clock = StoreClock(machine_clock)

    def read_pseudonym_key(self) -> bytes:
        return require("PSEUDONYM_KEY", self._settings.pseudonym_key).encode()

    def read_delegation_keys(self) -> "Mapping[Purpose, Sequence[str]]":
        keys = self._settings.tool_call_keys, self._settings.disconnect_keys
        return {"tool_call": keys[0], "disconnect": keys[1]}

    def connect(self) -> None:
        from google.auth.exceptions import GoogleAuthError

        with suppress(Unavailable, GoogleAuthError):
            self._documents.connect()

    def build_documents(self) -> "FirestoreDocuments":
        return self._documents

    @cached_property
    def known_models(self) -> "KnownModels":
        """Those of this instance: each learns them from its first refusals."""
        from shared.models.known_models import KnownModels

        return KnownModels()

    @cached_property
    def _documents(self) -> "FirestoreDocuments":
        from google.auth.exceptions import DefaultCredentialsError
        from google.cloud.firestore import AsyncClient

        from shared.adapters.cloud.firestore_documents import FirestoreDocuments

        try:
            client = AsyncClient(project=self._settings.project)
        except DefaultCredentialsError as error:
            raise SettingsError(
                "there is no login to Google Cloud here: gcloud auth application-default login"
            ) from error
        return FirestoreDocuments(client, self.clock)

    def build_residual_data(self) -> ports.ResidualData:
        from shared.adapters.cloud.firebase_identity import FirebaseResidualData

        return FirebaseResidualData(project=self._settings.project)

    def build_blobs(self) -> ports.Blobs:
        from shared.adapters.cloud.gcs_blobs import GcsBlobs

        bucket = require("BLOBS_BUCKET", self._settings.blobs_bucket)
        return GcsBlobs(bucket, address=self._find_stand_in("storage"))

    def build_vectors(self, find_home: "FindHome") -> ports.Vectors:
        shards = self._settings.pinecone_shards
        if not shards:
            raise SettingsError("PINECONE_SPARSE_HOST is missing: the cloud world needs it")
        if len(shards) == 1:
            return self._build_shard(shards[0])
        from shared.adapters.sharded_vectors import ShardedVectors

        return ShardedVectors(
            [(shard.buckets, self._build_shard(shard)) for shard in shards], find_home
        )

    def _build_shard(self, shard: "Shard") -> ports.Vectors:
        from shared.adapters.cloud.pinecone_vectors import PineconeVectors

        return PineconeVectors(
            api_key=require("PINECONE_API_KEY", self._settings.pinecone_api_key),
            sparse_host=shard.sparse_host,
            dense_host=shard.dense_host,
        )

    def build_events(self) -> ports.Events:
        from shared.adapters.cloud.pubsub_events import PubsubEvents

        return PubsubEvents(project=self._settings.project)

    def build_tasks(self) -> ports.Tasks:
        from shared.adapters.cloud.google_tasks import GoogleTasks

        return GoogleTasks(
            queues=require("TASKS_QUEUE", self._settings.tasks_queue).split(","),
            accounts=self._settings.task_accounts,
            url=self._settings.get_function_url,
            audiences=self._settings.service_audiences,
            address=self._find_stand_in("tasks"),
        )

    def build_push(self) -> ports.Push:
        from shared.adapters.cloud.fcm_push import FcmPush

        return FcmPush(project=self._settings.project)

    def read_web_push_keys(self) -> "WebPushKeys":
        from shared.adapters.web_push_keys import derive_private_pem, load_keys

        secret = require("WEB_PUSH_KEY", self._settings.web_push_key)
        return load_keys(derive_private_pem(secret))

    def build_identity(self) -> ports.Identity:
        from shared.adapters.cloud.firebase_identity import FirebaseIdentity

        return FirebaseIdentity(project=self._settings.project)

    def build_service_identity(self, calls: "ServiceCalls") -> ports.ServiceIdentity:
        from shared.adapters.cloud.oidc_service_identity import OidcServiceIdentity

        return OidcServiceIdentity(
            calls,
            self.clock,
            project=self._settings.project,
            audiences=self._settings.service_audiences,
            behind_iam=self._settings.on_cloud_run,
            **({"certs_url": url} if (url := self._find_stand_in("certificates")) else {}),
        )

    def build_keys(self, name: "KeyName") -> ports.Keys:
        from shared.adapters.cloud.kms_keys import KmsKeys

        setting, kms_key = {
            "keys": ("KMS_KEY", self._settings.kms_key),
            "sealing_keys": ("SEALING_KMS_KEY", self._settings.sealing_kms_key),
            "signing_keys": ("SIGNING_KMS_KEY", self._settings.signing_kms_key),
        }[name]
        return KmsKeys(require(setting, kms_key), address=self._find_stand_in("kms"))

    def build_keyless_model(
        self, encode: ports.EncodeQuestion, *, is_patient: bool
    ) -> ports.ChatModel:
        raise SettingsError("OPENAI_API_KEY is missing: the cloud world needs it")

    def build_keyless_moderator(self) -> ports.Moderator:
        from shared.adapters.silent_moderator import SilentModerator

        return SilentModerator()

    def build_keyless_transcriber(self) -> ports.Transcriber:
        from shared.adapters.missing_transcriber import MissingTranscriber

        return MissingTranscriber()

    def build_keyless_realtime(self) -> ports.Realtime:
        from shared.adapters.missing_realtime import MissingRealtime

        return MissingRealtime()

    def _find_stand_in(self, service: str) -> str | None:
        """Return the local server that stands for a service of Google, where one is set."""
        return self._settings.google_stand_ins.get(service)
