"""Embedded world: everything on one machine, in one folder, without a key.

Also called: self-hosted, local development, on-premises.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from shared import ports
from shared.settings import Settings
from shared.worlds import openai_clients

if TYPE_CHECKING:
    from shared.adapters.embedded.chosen import Chosen
    from shared.adapters.embedded.model_file import ModelFile, ModelSetup
    from shared.adapters.embedded.sqlite_database import SqliteDatabase
    from shared.adapters.embedded.sqlite_documents import SqliteDocuments
    from shared.adapters.embedded.sqlite_queue import SqliteQueue
    from shared.adapters.sharded_vectors import FindHome
    from shared.adapters.web_push_keys import WebPushKeys
    from shared.domain.apps.service_calls import ServiceCalls
    from shared.domain.models.model_failure import ModelPlace
    from shared.models.known_models import KnownModels
    from shared.security.delegations import Purpose
    from shared.worlds.world import KeyName

T = TypeVar("T")


class EmbeddedWorld:
    """SQLite and files in DATA_DIR, and the model that is chosen in the console."""

    erasure_note = (
        "Nothing stays but a keyed hash of your id and the time. Copies of the data folder that you "
        "made are yours to delete."
    )
    erasure_staleness = timedelta(seconds=0.5)
    erasure_grace = erasure_staleness + timedelta(seconds=0.5)

    def __init__(
        self, settings: Settings, clock: ports.Clock, routes: Mapping[str, Any], indexes: Path
    ) -> None:
        """`routes` are those of infra/routes.json, `indexes` is the file of Firestore's indexes."""
        self._settings = settings
        self.clock = clock
        self._routes = routes
        self._indexes = indexes

    @property
    def model_place(self) -> "ModelPlace":
        if self._settings.allow_remote:
            return "service"
        return "environment" if self._settings.openai_api_key else "console"

    @cached_property
    def known_models(self) -> "KnownModels":
        """Those of DATA_DIR, which outlive this process and are shared with others."""
        from shared.adapters.embedded.known_models_file import KnownModelsFile
        from shared.models.known_models import KnownModels

        return KnownModels(KnownModelsFile(self._settings.data_dir))

    @cached_property
    def database(self) -> "SqliteDatabase":
        """DATA_DIR/keepsake.db, which holds everything of this world."""
        from shared.adapters.embedded.sqlite_database import SqliteDatabase

        return SqliteDatabase(self._settings.data_dir / "keepsake.db")

    @cached_property
    def queue(self) -> "SqliteQueue":
        """The queue in the same file, so that a write and its triggers are one transaction."""
        from shared.adapters.embedded.sqlite_queue import SqliteQueue

        dead_letter_target = str(self._routes["dead_letters"])
        return SqliteQueue(self.database, self.clock, dead_letter_target=dead_letter_target)

    def read_pseudonym_key(self) -> bytes:
        return self._read_secret()

    def read_delegation_keys(self) -> "Mapping[Purpose, Sequence[str]]":
        secret = self._read_secret().hex()
        return {"tool_call": (secret,), "disconnect": (secret,)}

    def _read_secret(self) -> bytes:
        from shared.adapters.embedded.local_identity import read_secret

        return read_secret(self._settings.data_dir)

    def connect(self) -> None:
        """Do nothing: a file is opened with its first use."""

    def build_documents(self) -> "SqliteDocuments":
        from shared.adapters.embedded.sqlite_documents import SqliteDocuments
        from shared.adapters.embedded.sqlite_queue import SqliteTriggers
        from shared.adapters.firestore_indexes import FirestoreIndexes

        return SqliteDocuments(
            self.database,
            FirestoreIndexes.read(self._indexes),
            on_change=SqliteTriggers(self.queue, self._routes["triggers"]),
        )

    def build_residual_data(self) -> ports.ResidualData:
        from shared.adapters.embedded.sqlite_residual_data import SqliteResidualData

        return SqliteResidualData(self.queue, self.clock)

    def build_blobs(self) -> ports.Blobs:
        from shared.adapters.embedded.disk_blobs import DiskBlobs

        return DiskBlobs(self._settings.data_dir / "blobs")

    def build_vectors(self, find_home: "FindHome") -> ports.Vectors:
        from shared.adapters.embedded.sqlite_vectors import SqliteVectors

        return SqliteVectors(self.database)

    def build_events(self) -> ports.Events:
        from shared.adapters.embedded.sqlite_queue import SqliteEvents

        return SqliteEvents(self.queue, self._routes["topics"])

    def build_tasks(self) -> ports.Tasks:
        from shared.adapters.embedded.sqlite_queue import SqliteTasks

        return SqliteTasks(self.queue)

    def build_push(self) -> ports.Push:
        from shared.adapters.embedded.inbox_push import InboxPush

        return InboxPush()

    def read_web_push_keys(self) -> "WebPushKeys":
        from shared.adapters.embedded.data_folder import read_or_create
        from shared.adapters.web_push_keys import generate_private_pem, load_keys

        return load_keys(read_or_create(self._settings.data_dir / "push_key", generate_private_pem))

    def build_identity(self) -> ports.Identity:
        from shared.adapters.embedded.local_identity import LocalIdentity
        from shared.adapters.embedded.password_file import PasswordFile

        return LocalIdentity(self._read_secret(), PasswordFile(self._settings.data_dir))

    def build_service_identity(self, calls: "ServiceCalls") -> ports.ServiceIdentity:
        from shared.adapters.embedded.local_service_identity import LocalServiceIdentity

        return LocalServiceIdentity(self._read_secret(), calls, self.clock)

    def build_keys(self, name: "KeyName") -> ports.Keys:
        from shared.adapters.embedded.local_identity import read_secret
        from shared.adapters.embedded.local_keys import LocalKeys

        return LocalKeys(read_secret(self._settings.data_dir, name))

    def build_keyless_model(
        self, encode: ports.EncodeQuestion, *, is_patient: bool
    ) -> ports.ChatModel:
        from shared.adapters.embedded.configured_model import ConfiguredModel

        build = partial(self._build_chosen_model, encode, is_patient=is_patient)
        return ConfiguredModel(self._follow_model_file(build))

    def _build_chosen_model(
        self,
        encode: ports.EncodeQuestion,
        setup: "ModelSetup | None",
        *,
        is_patient: bool,
    ) -> ports.ChatModel:
        """Build the model that was chosen in the console; without a choice, the offline model."""
        if setup is None:
            from shared.adapters.embedded.offline.offline_model import OfflineModel

            return OfflineModel(encode)
        from shared.adapters.cloud.openai_model import OpenaiModel
        from shared.adapters.resilient_model import ResilientModel
        from shared.domain.models.model import ModelRole

        roles = get_args(ModelRole)
        names = {role: setup.small_model if role == "fast" else setup.model for role in roles}
        is_flex = is_patient and self._settings.uses_flex(setup.base_url)
        models = [
            OpenaiModel(
                api_key=setup.api_key,
                base_url=setup.base_url,
                models=names,
                windows=self._settings.model_windows,
                prices=self._settings.token_prices,
                is_flex=asks_flex,
                marks_prefixes=self._settings.marks_prefixes(setup.base_url),
                known=self.known_models,
                clock=self.clock,
            )
            for asks_flex in ([True, False] if is_flex else [False])
        ]
        return ResilientModel(dict.fromkeys(roles, models), self.clock)

    def build_keyless_moderator(self) -> ports.Moderator:
        from shared.adapters.embedded.configured_moderator import ConfiguredModerator

        return ConfiguredModerator(self._follow_model_file(self._build_chosen_moderator))

    def _build_chosen_moderator(self, setup: "ModelSetup | None") -> ports.Moderator:
        if setup is None or setup.kind != "openai":
            from shared.adapters.silent_moderator import SilentModerator

            return SilentModerator()
        return openai_clients.build_moderator(setup.api_key, setup.base_url, self.clock)

    def build_keyless_transcriber(self) -> ports.Transcriber:
        from shared.adapters.embedded.configured_transcriber import ConfiguredTranscriber

        return ConfiguredTranscriber(self._follow_model_file(self._build_chosen_transcriber))

    def _build_chosen_transcriber(self, setup: "ModelSetup | None") -> ports.Transcriber:
        """Build OpenAI's where the console has its key; other servers may not turn speech into text."""
        if setup is None or setup.kind != "openai":
            from shared.adapters.missing_transcriber import MissingTranscriber

            return MissingTranscriber()
        model = self._settings.transcription_model
        return openai_clients.build_transcriber(setup.api_key, setup.base_url, model)

    def build_keyless_realtime(self) -> ports.Realtime:
        setup = self._open_model_file().load()
        if setup is None or setup.kind != "openai":
            from shared.adapters.missing_realtime import MissingRealtime

            return MissingRealtime()
        return openai_clients.build_realtime(
            setup.api_key,
            setup.base_url,
            self._settings.realtime_model,
            pseudonym_key=self._read_secret(),
        )

    def _follow_model_file(self, build: "Callable[[ModelSetup | None], T]") -> "Chosen[T]":
        """Build what the console chooses, and again when it chooses anew."""
        from shared.adapters.embedded.chosen import Chosen

        return Chosen(self._open_model_file(), build)

    def _open_model_file(self) -> "ModelFile":
        from shared.adapters.embedded.model_file import ModelFile

        return ModelFile(self._settings.data_dir)
