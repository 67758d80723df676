"""Trial transcript: what a model that is tested is asked to read, as it is asked of every conversation."""

from functions.process_conversation.processing.read_transcript import (
    ANSWER_TOKENS,
    BRIEF_PROMPT,
    LEAST_ANSWER_TOKENS,
    PROMPT,
    render_instructions,
)
from functions.process_conversation.processing.transcript_parts import MAX_PART_TOKENS
from shared.domain.models.model import Prompt
from shared.domain.models.tokens import estimate_tokens
from shared.models.data_room import DataRoom
from shared.ports import ChatModel

LINES = (
    ("Speaker 1", True, "The plumber comes on Tuesday at nine. I have to be at home then."),
    ("Speaker 2", False, "Good. I will bring you the key of the cellar tomorrow."),
)
"""Nobody's words, with a date, and a task of each."""


def build_trial_prompt(model: ChatModel) -> Prompt:
    """Build the prompt of a short conversation, with instructions that fit the window of the reader."""
    room = DataRoom(model, "reader", max_tokens=MAX_PART_TOKENS)
    instructions = render_instructions(PROMPT)
    if room.compute(instructions, ANSWER_TOKENS) < estimate_tokens(instructions):
        instructions = render_instructions(BRIEF_PROMPT)
    transcript = [
        {"segment": n, "speaker": speaker, **({"is_user": True} if is_user else {}), "text": text}
        for n, (speaker, is_user, text) in enumerate(LINES)
    ]
    return Prompt(
        name=PROMPT,
        version="trial",
        instructions=instructions,
        data={"transcript": transcript, "write_in": "en", "existing_memories": []},
        answer_tokens=LEAST_ANSWER_TOKENS,
    )
