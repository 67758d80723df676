"""Fingerprint of a question: a hash of all that it asks for, the same in all of its repeats."""

import hashlib

from pydantic_core import to_json

from functions.chat.api.question_schemas import SendMessageIn, SendQuery


def compute_fingerprint(question: SendMessageIn, query: SendQuery) -> str:
    fields = question.model_dump(exclude={"client_message_id", "follows"})
    for name in ("model", "models", "similar_chats"):
        if fields[name] is None:
            del fields[name]  # the same question as of a client that does not know it
    return hashlib.sha256(to_json([query.session_id, fields])).hexdigest()
