"""Ports: everything Keepsake asks of the outside world, one Protocol each.

An adapter stands behind each port: `shared/adapters/{cloud,embedded}/<vendor>_<port>.py`, or beside
them where both worlds use it. A contract suite in `tests/contracts/` runs over every adapter of a port.
Adapters raise only errors of `shared/domain/errors.py`; `Unavailable` wherever another attempt may help.

Also called: hexagonal architecture, ports and adapters, interfaces.
"""

# Annotations are not evaluated: a port imports none of its types, and a function only what it uses.
from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from shared.domain.value import value

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Collection,
        Mapping,
        Sequence,
    )
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from shared.domain.account.account import TokenCheck, VerifiedToken
    from shared.domain.apps.tool_data import ToolData
    from shared.domain.chats.safety import Moderation
    from shared.domain.chats.voice_session import RealtimeSecret, RealtimeSetup
    from shared.domain.conversations.speech import Hearing, Transcription, Voice, Window
    from shared.domain.ids import UserId
    from shared.domain.models.model import (
        ModelEvent,
        ModelFacts,
        ModelMessage,
        ModelRole,
        Prompt,
        ToolSpec,
        Urgency,
    )
    from shared.domain.store.documents import Document, Query, Write
    from shared.domain.store.vectors import Filter, Hit, Row, SparseVector

T = TypeVar("T")


class Transaction(Protocol):
    """One attempt of a transaction: all reads first, then writes, which are buffered."""

    async def get(self, path: str) -> Document | None: ...

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]: ...

    def write(self, *writes: Write) -> None:
        """Buffer writes; they happen together when the closure returns, or not at all."""


class Documents(Protocol):
    """The document store. Paths alternate collection and id: `users/alice/conversations/c1`.

    Limits are Firestore's, such as 1 MiB a document and 500 writes a batch; a write or query beyond
    a limit raises Invalid.
    """

    async def get(self, path: str) -> Document | None: ...

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        """Read in one round trip; answers come in the order of the paths.

        `known` are versions by path that the caller holds: a document that still has that one may come without fields.
        """

    async def query(self, query: Query) -> list[Document]:
        """Raises Invalid for a shape that no index of infra/firestore.indexes.json serves."""

    async def count(self, query: Query) -> int: ...

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        """Add up each of these whole numbers over the documents of a query that have them all."""

    async def write(self, *writes: Write) -> None:
        """Apply all writes or none."""

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run `work` until it commits against unchanged reads; it may run several times.

        Raises Unavailable when contention does not end.
        """

    async def delete_tree(self, path: str) -> int:
        """Delete the document at `path` and everything below it; returns how many there were."""


class DueDocuments(Protocol):
    """Unfinished work of all users: the one question that reads across them, asked by the sweep alone."""

    async def list_due(
        self, collection_name: str, until: datetime, *, limit: int, after: datetime | None = None
    ) -> list[Document]:
        """Return documents of all collections of this name whose `due_at` is at most `until`, earliest first.

        With `after` only those that are due later than that.
        """


class UserList(Protocol):
    """All users: asked by their reindexing alone."""

    async def list_users(self, limit: int, *, after: str | None) -> tuple[list[UserId], str | None]:
        """Return a page of those who have any document, and where the next begins; None at the end.

        `after` is what the page before returned. Users who come meanwhile may be missing.
        """


class Blobs(Protocol):
    """Files of users, under paths such as `users/alice/uploads/u1/0-x9`.

    A path has parts of letters, digits, `-`, `_` and dots that do not lead; any other raises Invalid.
    All raise Unavailable.
    """

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        """Store a whole file of at most 8 MiB in the place of one that may be there.

        Nobody reads a part of it. Raises Invalid for a larger one.
        """

    async def read(self, path: str) -> bytes:
        """Raises NotFound."""

    async def delete(self, paths: Sequence[str]) -> None:
        """Delete files; a missing one is no error."""

    async def delete_tree(self, prefix: str) -> None:
        """Delete every file below `prefix`, a path such as `users/alice`."""


class Vectors(Protocol):
    """The vector index. A namespace is one user; a query never returns rows of others."""

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        """Write rows, each as a whole: one without dense values has none afterwards."""

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        """Return rows by id, as 32-bit floats; missing ids are left out."""

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        """Return the rows with the highest dot product, best first; none with a score of 0."""

    async def query_dense(
        self,
        namespace: str,
        vector: Sequence[float],
        *,
        limit: int,
        where: Filter | None = None,
    ) -> list[Hit]:
        """Return the rows with the highest cosine (-1 to 1), best first; only those with dense values."""

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        """Delete rows; a missing id is no error."""

    async def delete_namespace(self, namespace: str) -> None: ...


class ChatModel(Protocol):
    """A language model, chosen by role."""

    def name(self, role: ModelRole) -> str:
        """Name the model behind a role, as diagnostics show it."""

    def describe(self, role: ModelRole) -> ModelFacts:
        """Return what every model that may answer for a role can be given."""

    def stream(
        self,
        role: ModelRole,
        messages: Sequence[ModelMessage],
        tools: Sequence[ToolSpec] = (),
    ) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        """Open one model call. Leaving the context closes the upstream stream at once.

        Raises Unavailable (connection, timeout, 429, 5xx) or ModelFailed, on opening or later.
        """

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        """Answer `prompt` as a value of `schema` (a pydantic model).

        Raises ModelFailed when what came back does not fit the schema.
        """


class Models(Protocol):
    """The language models, before it is known whose words they are asked about."""

    def name(self, role: ModelRole) -> str:
        """Name the model behind a role, as diagnostics show it."""

    def describe(self, role: ModelRole) -> ModelFacts:
        """Return what every model that may answer for a role can be given."""

    def check_room(self, uid: UserId) -> None:
        """Raises TooMany for a user whose earlier calls wait to be admitted, and do for long."""

    def is_short(self) -> bool:
        """Tell whether calls had to wait for tokens within the last minute."""

    def for_user(
        self, uid: UserId, *, is_masked: bool, chat: str = "", urgency: Urgency = "now"
    ) -> ChatModel:
        """Return the models for one user's words, of one chat if they belong to one.

        Where the settings mask at all, and `is_masked` says that the user wants it, they read
        placeholders for private data: the same for the same value in all turns of a chat.
        What is asked with an `urgency` of later may take minutes, and costs less where it can.
        """


class Moderator(Protocol):
    """Rates what texts ask for, and how their writers seem to be."""

    async def moderate(self, text: str) -> Moderation | None:
        """Return the ratings of a text, None where nobody rates texts.

        Harm to its writer alone is no `harm`. Raises Unavailable and ModelFailed.
        """


class Embedder(Protocol):
    """Embeds texts of a user as vectors of one length; similar meanings are close by cosine."""

    @property
    def name(self) -> str:
        """Name the model: vectors of different ones cannot be compared."""

    @property
    def embeds_later(self) -> bool:
        """Tell whether rows are stored with their texts first, and embedded behind."""

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector a text, in their order. Raises Unavailable or ModelFailed."""

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        """Return the vector to find texts by. Raises Unavailable or ModelFailed."""


class EncodeQuestion(Protocol):
    """Encodes a question by the encoder of our labelled examples, however many others ask for one."""

    async def __call__(self, uid: UserId, question: str, /) -> Sequence[float]:
        """Return its vector. Raises Unavailable or ModelFailed."""


class Transcriber(Protocol):
    """Turns speech into text."""

    @property
    def name(self) -> str:
        """Name the model."""

    @property
    def is_ready(self) -> bool:
        """Tell whether one is set up; without, transcribe() raises ModelFailed."""

    @property
    def tells_speakers(self) -> bool:
        """Tell whether it tells speakers apart; else everything said is that of one, who is nobody yet."""

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        """Write down what is said in a WAV of at most 24 MB; times count from its beginning.

        A model that tells speakers apart gives those of `voices`, of which it may take the first four,
        their names. `hint` is words that may be said, where it takes any. A draft is soon replaced: it may miss
        words if it comes sooner. Raises Unavailable and ModelFailed.
        """


class LiveTranscriber(Protocol):
    """Turns speech into text while it is spoken."""

    @property
    def name(self) -> str:
        """Name the model."""

    @property
    def is_ready(self) -> bool:
        """Tell whether one is set up; without, open() raises ModelFailed."""

    def open(self, *, language: str | None = None) -> AbstractAsyncContextManager[LiveHearing]:
        """Begin to hear a stream; `language` is ISO 639-1. Raises Unavailable and ModelFailed."""


class LiveHearing(Protocol):
    """One stream of speech, in seconds from its first sample."""

    @property
    def heard_until(self) -> float:
        """Until when everything that was said has been told."""

    async def hear(self, samples: bytes) -> None:
        """Take 16-bit samples of SAMPLE_RATE, mono."""

    async def flush(self) -> None:
        """Tell what was said so far without waiting for more sound."""

    async def end(self) -> None:
        """Take no more sound: iterate() ends once everything has been told."""

    def iterate(self) -> AsyncGenerator[Hearing, None]:
        """Yield what is said, in its order. Raises Unavailable and ModelFailed."""

    def give_up(self) -> Sequence[Window]:
        """Return the sound that waits, of which nothing will be told, because it is heard another way.

        None of what is being heard in this moment, nor of what is a provider's by now.
        """


class Realtime(Protocol):
    """Lets a user speak with a model that runs at its provider."""

    @property
    def is_ready(self) -> bool:
        """Tell whether one is set up; without, the others raise ModelFailed."""

    async def create_secret(self, uid: UserId, setup: RealtimeSetup) -> RealtimeSecret:
        """Return a secret that opens one user's session for a moment, and never a key of ours.

        Raises Unavailable and ModelFailed, whose text is for people.
        """

    async def open_call(self, uid: UserId, setup: RealtimeSetup, offer: str) -> str:
        """Open a call that a browser offers (SDP) and return the answer to it; sound goes past us.

        Raises as create_secret() does.
        """


class Events(Protocol):
    """Publish and subscribe, at least once, in no order."""

    async def publish(self, topic: str, event: Mapping[str, Any]) -> None:
        """Return once the event is durable. Events carry ids and hashes, never content."""


class Tasks(Protocol):
    """Named, delayed calls of one of our own functions."""

    async def create(
        self, target: str, name: str, body: Mapping[str, Any], *, at: datetime | None = None
    ) -> None:
        """Call the internal entry point `target` with `body` at `at` (UTC; now when None).

        The body carries ids, never content. A task whose name was used in the last hour is not created again: no error.
        """


class Identity(Protocol):
    """Verifies users."""

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        """Return whose token this is, and since when. Raises NotAuthenticated and Unavailable."""


class ResidualData(Protocol):
    """The data of a user beside documents and vectors: what storage or a vendor still holds."""

    async def erase(self, uid: UserId) -> None:
        """Erase it once documents and vectors are deleted; idempotent. Raises Unavailable."""


class ServiceIdentity(Protocol):
    """Verifies which of our functions calls: each may be called by the accounts of its rows alone."""

    async def get_token(self, caller: str, audience: str) -> str:
        """Return a token with which `caller` calls the function `audience`. Raises Unavailable."""

    async def verify(self, token: str, audience: str) -> None:
        """Raises NotAuthenticated, and NotAllowed for an account that may not call `audience`."""


class Keys(Protocol):
    """Wraps small secrets, such as users' tokens, with a key that stays in the key store."""

    async def wrap(self, secret: bytes, *, bound_to: str) -> bytes:
        """Encrypt at most 32 KiB; `unwrap` needs the same `bound_to`.

        Raises Unavailable.
        """

    async def unwrap(self, wrapped: bytes, *, bound_to: str) -> bytes:
        """Raises CannotUnwrap and Unavailable."""


@value
class EgressRequest:
    """A call to a third party. `timeout_s` bounds the whole call, `max_bytes` the answer.

    `accepts` names the media types that a 2xx answer may have, such as application/json or text/*;
    without any, all are accepted, and so is an answer without a type. Without `is_body_needed`
    the body is empty where it cannot be read in time and within the limits: the status counts.
    `local_origins` are those of this machine that the owner of the address may have called, where
    the server serves this machine alone.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    timeout_s: float = 30.0
    max_bytes: int = 1_048_576
    accepts: Sequence[str] = ()
    is_body_needed: bool = True
    local_origins: Sequence[str] = ()


@value
class EgressResponse:
    """The answer of a third party, untrusted; `body` is complete and within `max_bytes`.

    `headers` have lower-case names; repeated ones are joined by commas.
    """

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Egress(Protocol):
    """The one way out to addresses that others chose."""

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        """Raise NotAllowed for an address that no call could ever reach; its name is not resolved."""

    async def send(self, request: EgressRequest) -> EgressResponse:
        """Return any answer; redirects are returned, not followed.

        Raises NotAllowed (address or headers are refused), TimedOut, Unreadable (type, encoding),
        Unavailable (connect), TooLarge.
        """


class ToolBox(Protocol):
    """Tools that third parties serve, called through tool_proxy."""

    async def call(
        self,
        uid: UserId,
        app_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
        pin: str,
    ) -> ToolData:
        """Return what the tool says. Raises ToolRefused or ToolFailed.

        `pin` names the version of the tool that the call is meant for; another one does not run.
        `call_id` fits `[A-Za-z0-9_-]{1,64}`. A repeat of a call has the same one and reaches the
        third party under the same message id, so that it can drop the repeat.
        """

    async def call_service(
        self,
        uid: UserId,
        service: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
    ) -> ToolData:
        """Call a tool of a connected service, as call() does."""

    async def disconnect_all(self, uid: UserId) -> None:
        """Revoke and delete all tokens of a user. Raises Unavailable."""


class LinkChecker(Protocol):
    """Looks up whether addresses that an answer names still lead anywhere."""

    async def find_broken(self, urls: Sequence[str]) -> Collection[str]:
        """Return those of at most 10 https addresses whose servers say that there is nothing.

        Who serves an address learns it, but neither for whom nor why it is asked for. Raises Unavailable.
        """


@value
class PushMessage:
    """A push notification. `tag` is the same on every attempt, so that a device shows one.

    One without a title is data for the app, and no device shows it.
    """

    title: str
    body: str
    data: Mapping[str, str]
    tag: str


@value
class PushOutcome:
    """The outcome of a push by token: sent, dead (to be deleted), or to be retried.

    `refusal_reasons` are the vendor's, for tokens that no other attempt helps.
    """

    sent_tokens: Sequence[str] = ()
    dead_tokens: Sequence[str] = ()
    retryable_tokens: Sequence[str] = ()
    refusal_reasons: Mapping[str, str] = field(default_factory=dict)


class Push(Protocol):
    """Delivers to a user's devices."""

    async def send(self, uid: UserId, tokens: Sequence[str], message: PushMessage) -> PushOutcome:
        """Return the outcome of each token. Raises Unavailable when none was tried."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the time, in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""


class NewId(Protocol):
    def __call__(self) -> str:
        """Return an unused id of `[A-Za-z0-9_-]`, hard to guess, at most 32 characters."""
