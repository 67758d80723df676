"""Question text: a call that waits for the owner's reply, as the last lines of an answer."""

import json
from typing import Any

from functions.chat import user_texts
from shared.domain.chats.confirmation import Confirmation
from shared.languages import translate
from shared.security.visible_text import strip_invisible

MAX_NAME_CHARS = 100
REASONS = {
    "sensitive": "This kind of call asks each time.",
    "first_use": "It has not been allowed yet.",
    "new_tool": "The app added this tool after you installed it.",
    "changed_tool": "The app changed this tool after you allowed it.",
    "disclosure": "It would tell its maker more than you wrote in this message.",
    "private_text": "It contains a number or a secret that you did not write in this message.",
}


def build_question_text(confirmation: Confirmation, language: str | None = None) -> str:
    """Name the tool, its app, maker and id, and show every argument exactly as it would be sent."""
    source = confirmation.source
    reply = user_texts.REPLY_ALWAYS if confirmation.allows_always else user_texts.REPLY_ONCE
    return translate(
        user_texts.CONFIRM_CALL if confirmation.maker else user_texts.CONFIRM_OWN_CALL,
        language,
        tool=_to_one_line(confirmation.tool),
        source=_to_plain_name(source.name or source.id),
        maker=_to_plain_name(confirmation.maker),
        id=source.id,
        reason=translate(REASONS[confirmation.reason], language),
        arguments=_format_arguments(confirmation.arguments).replace("`", "\\u0060"),
        reply=translate(reply, language),
    )


def _format_arguments(arguments: str) -> str:
    """Write each of several arguments on its own line: none is out of sight behind a long one."""
    members = json.loads(arguments)
    if len(members) < 2:
        return arguments
    lines = [f"  {_to_json(name)}: {_to_json(member)}" for name, member in members.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _to_json(member: Any) -> str:
    return json.dumps(member, ensure_ascii=False)


def _to_plain_name(name: str) -> str:
    """Return a name of a third party without the signs that format text or end a quotation."""
    return "".join(sign for sign in _to_one_line(name) if sign not in '*_[]()<>#|\\~"“”„«»')


def _to_one_line(name: str) -> str:
    return " ".join(strip_invisible(name).replace("`", "").split())[:MAX_NAME_CHARS]
