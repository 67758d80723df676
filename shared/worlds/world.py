"""World: what lies behind the ports, which differs between the embedded world and the cloud."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal, Protocol

from shared import ports
from shared.adapters.sharded_vectors import FindHome
from shared.adapters.web_push_keys import WebPushKeys
from shared.domain.apps.service_calls import ServiceCalls
from shared.domain.models.model_failure import ModelPlace
from shared.models.known_models import KnownModels
from shared.security.delegations import Purpose

KeyName = Literal["keys", "sealing_keys", "signing_keys"]


class AllDocuments(ports.Documents, ports.DueDocuments, ports.UserList, Protocol):
    """Documents of one user, the unfinished work of all, and who they are."""


class World(Protocol):
    """Builds the adapters of one world; who calls keeps what is built. Raises SettingsError."""

    erasure_note: str
    """What outlives an erasure, in words for people."""
    erasure_staleness: timedelta
    """How late an instance may notice that an account is being erased."""
    erasure_grace: timedelta
    """How long an erasure waits for work that began before; longer than its cache is stale."""

    @property
    def clock(self) -> ports.Clock:
        """The clock that all processes share."""

    @property
    def model_place(self) -> ModelPlace:
        """Where the model is set, for those who ask it."""

    @property
    def known_models(self) -> KnownModels:
        """What is known of the language models that this process asks."""

    def read_pseudonym_key(self) -> bytes: ...

    def read_delegation_keys(self) -> Mapping[Purpose, Sequence[str]]:
        """Return what signs for whom a function calls the tool proxy, the newest key last."""

    def connect(self) -> None:
        """Begin to connect to the documents, in the loop that runs; what fails shows at their first use."""

    def build_documents(self) -> AllDocuments: ...

    def build_residual_data(self) -> ports.ResidualData: ...

    def build_blobs(self) -> ports.Blobs: ...

    def build_vectors(self, find_home: FindHome) -> ports.Vectors: ...

    def build_events(self) -> ports.Events: ...

    def build_tasks(self) -> ports.Tasks: ...

    def build_push(self) -> ports.Push:
        """Build what reaches phones."""

    def read_web_push_keys(self) -> WebPushKeys:
        """Return the keys by which browsers are notified."""

    def build_identity(self) -> ports.Identity: ...

    def build_service_identity(self, calls: ServiceCalls) -> ports.ServiceIdentity: ...

    def build_keys(self, name: KeyName) -> ports.Keys: ...

    def build_keyless_model(
        self, encode: ports.EncodeQuestion, *, is_patient: bool
    ) -> ports.ChatModel:
        """Build the model where the settings hold no key of OpenAI; so with the next three."""

    def build_keyless_moderator(self) -> ports.Moderator: ...

    def build_keyless_transcriber(self) -> ports.Transcriber: ...

    def build_keyless_realtime(self) -> ports.Realtime: ...
