"""Routes of guided exercises: list them, and begin or end one in a chat."""

from pydantic import Field

from functions.chat.api.session_schemas import SessionOut, to_session_out
from functions.chat.deps import ChatDeps
from functions.chat.sessions import chat_sessions
from shared.domain.ids import SessionId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.exercises import load_exercises


class ExerciseOut(Wire):
    """A guided exercise, in English; the assistant words its steps in the owner's language."""

    id: str
    title: str
    purpose: str
    steps: tuple[str, ...]


class ExerciseIn(Wire):
    """The exercise to begin; null ends the one that goes on."""

    exercise_id: str | None = Field(max_length=40)


@route("GET", "/v2/exercises", "List the guided exercises")
async def list_exercises(_: ChatDeps, __: Call) -> list[ExerciseOut]:
    return [ExerciseOut.model_validate(exercise) for exercise in load_exercises()]


@route(
    "PUT",
    "/v2/chat-sessions/{id}/exercise",
    "Begin a guided exercise in a chat, or end it",
    errors=(404,),
)
async def set_exercise(deps: ChatDeps, call: Call[ExerciseIn]) -> SessionOut:
    session_id, exercise_id = SessionId(call.path["id"]), call.body.exercise_id or None
    return to_session_out(await chat_sessions.set_exercise(deps, call.uid, session_id, exercise_id))


ROUTES = (list_exercises, set_exercise)
