"""Question of an owner, as their client sent it."""

from collections.abc import Sequence

from functions.chat.context.page import Page
from functions.chat.context.similar_chats import SimilarChat
from functions.chat.sessions.versions import WantedVersion
from shared.domain.chats.chat import build_main_session_id
from shared.domain.chats.custom_agent import AgentRole
from shared.domain.ids import AppId, MessageId, SessionId
from shared.domain.value import positional_value


@positional_value
class Question:
    """A question with all that came with it.

    It stands in the chat `session_id`; without one, in the main chat with the app `app_id`, or with us.
    `follows` is the message that its owner saw last, and `version` the one that gets another. `models` are
    those that the owner chose for this question, which answer at once; a persona answers with its own, and a
    reply to a question of ours is answered by the first. `page` is what the owner looks at, and `file_ids`
    name the files that come with it; another version keeps those of its message. `similar_chats` are those that the client of a sealed chat found. Our
    own texts are in `client_language` where the owner chose no language. `can_confirm` says that the client
    can show its owner a question while the answer goes on.
    """

    text: str
    app_id: AppId | None = None
    session_id: SessionId | None = None
    follows: MessageId | None = None
    version: WantedVersion | None = None
    models: Sequence[AgentRole] = ()
    page: Page | None = None
    file_ids: Sequence[str] = ()
    similar_chats: Sequence[SimilarChat] = ()
    client_language: str | None = None
    can_confirm: bool = False

    @property
    def chat_id(self) -> SessionId:
        return self.session_id or build_main_session_id(self.app_id)
