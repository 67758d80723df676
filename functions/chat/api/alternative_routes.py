"""Routes of alternatives: the answers of other models to a question, and the choice of one."""

from typing import Annotated

from pydantic import Field

from functions.chat.api.message_schemas import MessageOut, to_message_out
from functions.chat.api.ui_parts import build_parts
from functions.chat.deps import ChatDeps
from functions.chat.sessions.alternatives import choose_alternative, list_alternatives
from shared.domain.chats.chat import Message
from shared.domain.chats.voices import MAX_VOICES
from shared.domain.ids import MessageId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire


class ChosenAnswerIn(Wire):
    """The answer to go on with, by the number of its model in the question's `models`, from 0."""

    voice: Annotated[int, Field(ge=0, lt=MAX_VOICES)]


@route(
    "GET",
    "/v2/messages/{id}/alternatives",
    "List the answers of the other models to the same question",
    errors=(404,),
)
async def list_alternative_answers(deps: ChatDeps, call: Call) -> list[MessageOut]:
    messages = await list_alternatives(deps, call.uid, MessageId(call.path["id"]))
    return [_to_answer_out(message) for message in messages]


@route(
    "PUT",
    "/v2/messages/{id}/chosen",
    "Choose whose answer the chat goes on with",
    errors=(404, 409),
)
async def choose_answer(deps: ChatDeps, call: Call[ChosenAnswerIn]) -> MessageOut:
    """Put it in the place of the one that is shown: only at the end of a chat."""
    message_id = MessageId(call.path["id"])
    return _to_answer_out(await choose_alternative(deps, call.uid, message_id, call.body.voice))


def _to_answer_out(message: Message) -> MessageOut:
    out = to_message_out(message)
    return out.model_copy(update={"metadata": out.metadata | {"parts": build_parts(message)}})


ROUTES = (list_alternative_answers, choose_answer)
