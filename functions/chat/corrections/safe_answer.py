"""Safe answer: an answer that could do harm is asked for again, with a reminder of what must not be in it."""

from pydantic import BaseModel, ConfigDict

from functions.chat.context import window
from functions.chat.context.history import pair_answers
from functions.chat.context.model_words import select_model_words
from functions.chat.deps import AfterTurnDeps
from shared import prompts
from shared.domain.chats.branches import build_path_to
from shared.domain.chats.chat import Message, Session
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.library.user_model import load_model
from shared.models.data_room import fit_prompt
from shared.security.link_filter import extract_urls, filter_links
from shared.security.visible_text import strip_invisible

MAX_TEXT_CHARS = 20_000
"""Of the question and of each answer; of an earlier message a tenth."""
PROMPT_NAME = "chat/safe_answer"
ANSWER_TOKENS = 6_000
"""An answer as long as the first one may be."""


class SafeAnswerOutput(BaseModel):
    """Another answer in the place of one that could do harm."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    answer: str


async def write_safe_answer(
    deps: AfterTurnDeps, uid: UserId, session: Session, question: Message, answer: Message
) -> str:
    """Return another answer to a question, with citation markers; empty where the model gives none.

    Raises Unavailable.
    """
    given_text = answer.marked_text or answer.text
    if answer.model_text is not None:
        given_text = answer.model_text
    earlier = await deps.stores.messages.list_newest(
        uid,
        session.id,
        limit=window.MIN_VERBATIM,
        before=question.position,
        path=build_path_to(session.forks, question.branch),
    )
    data = {
        "earlier": [
            {"sender": message.sender, "text": words[: MAX_TEXT_CHARS // 10]}
            for message in pair_answers(earlier[::-1])
            if (words := select_model_words(message))
        ],
        "question": question.text[:MAX_TEXT_CHARS],
        "answer": given_text[:MAX_TEXT_CHARS],
    }
    prompt = prompts.build_prompt(
        PROMPT_NAME,
        data,
        answer_tokens=ANSWER_TOKENS,
    )
    model = await load_model(deps, uid, chat=session.id)
    try:
        output = await model.complete_structured(
            "standard", fit_prompt(model, "standard", prompt), SafeAnswerOutput
        )
    except ModelFailed:
        return ""
    text = strip_invisible(output.answer).strip()[:MAX_TEXT_CHARS]
    return filter_links(text, extract_urls(given_text) | extract_urls(question.text))
