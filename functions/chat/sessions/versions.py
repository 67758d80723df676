"""Versions of messages: a question edited or an answer asked again, in a branch of its own.

Also called: regenerate, edit message.
"""

from collections.abc import Sequence

from functions.chat.deps import ChatDeps
from functions.chat.sessions.chat_sessions import get_session
from shared.data.stores import Stores
from shared.domain.chats import branches
from shared.domain.chats.chat import Fork, Message, Position, Session
from shared.domain.chats.run import build_question_id
from shared.domain.errors import Conflict, Invalid, NotFound
from shared.domain.ids import BranchId, MessageId, RunId, SessionId, UserId
from shared.domain.value import value

MAX_VERSIONS = 200
"""Maximum of versions in one chat; those that begin at once may go beyond it by a few."""
NOT_ANSWERED = "Only an answer to a question of yours can be asked again."


@value
class WantedVersion:
    """A version that its owner asks for: of `target`, a question or an answer to `question`."""

    session: Session
    target: Message
    question: Message
    text: str

    @property
    def file_ids(self) -> Sequence[str]:
        """Those of its question; some may be gone since."""
        return [file.id for file in self.question.files]

    def build_fork(self, run_id: RunId) -> Fork:
        forks, branch = self.session.forks, BranchId(run_id)
        if self.target.sender == "human":
            head = build_question_id(run_id)
            return branches.build_edit(forks, self.target, branch, head)
        head = MessageId(run_id)
        return branches.build_retry(forks, self.target, self.question, branch, head)


async def load_wanted(
    deps: ChatDeps, uid: UserId, message_id: MessageId, text: str | None
) -> WantedVersion:
    """Read what another version of a message begins with.

    `text` is the new question, None for an answer. Raises NotFound, Invalid for a message that
    cannot have versions, and Conflict for a chat that has too many.
    """
    target = await deps.stores.messages.get(uid, message_id)
    session = await get_session(deps, uid, target.session_id)
    if len(session.forks) >= MAX_VERSIONS:
        raise Conflict(
            f"This chat has {MAX_VERSIONS} versions of its messages, which is the most there can "
            "be. Please begin a new chat."
        )
    if target.sender == "human":
        if text is None:
            raise Invalid("An edited question needs its new text.")
        return WantedVersion(session=session, target=target, question=target, text=text)
    if text is not None:
        raise Invalid("An answer is asked again with the text of its question.")
    question = await load_question(deps.stores, uid, session, target)
    return WantedVersion(session=session, target=target, question=question, text=question.text)


async def load_question(stores: Stores, uid: UserId, session: Session, answer: Message) -> Message:
    """Return the question that an answer belongs to. Raises Invalid where there is none."""
    question_id = branches.find_retried_question(session.forks, answer.id) or build_question_id(
        RunId(answer.id)
    )
    try:
        question = await stores.messages.get(uid, question_id)
    except NotFound:
        raise Invalid(NOT_ANSWERED) from None
    if question.session_id != session.id or answer.from_integration:
        raise Invalid(NOT_ANSWERED)
    return question


async def show_version(
    deps: ChatDeps, uid: UserId, session_id: SessionId, message_id: MessageId
) -> Session:
    """Show the version of a chat that holds a message. Raises NotFound."""
    session = await get_session(deps, uid, session_id)
    branch, position = await _find_place(deps, uid, session, message_id)
    return await deps.stores.sessions.change_forks(
        uid, session_id, lambda forks: branches.show_position(forks, branch, position)
    )


async def _find_place(
    deps: ChatDeps, uid: UserId, session: Session, message_id: MessageId
) -> tuple[BranchId, Position]:
    """Return where a message stands; an answer that is not stored yet begins its branch."""
    for fork in session.forks:
        if fork.head == message_id:
            return fork.id, fork.question
    message = await deps.stores.messages.get(uid, message_id)
    if message.session_id != session.id:
        raise NotFound("Message not found")
    return message.branch, message.position
