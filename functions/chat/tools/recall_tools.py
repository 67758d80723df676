"""Recall tool: pause or resume the use of memories in answers, when the owner asks for it."""

from functools import partial

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.domain.ids import UserId

PAUSED = "From the next message on, answers use nothing of what is remembered, until it is resumed. It stays stored."
RESUMED = "From the next message on, answers use what is remembered."


class SetRecall(Arguments):
    """Pause or resume the use of memories in all chats, when the owner asks for it. It deletes nothing."""

    recalls: bool


def build_recall_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    return [
        build_builtin_tool(
            "set_recall",
            "Setting what is recalled",
            SetRecall,
            partial(_set_recall, deps, uid),
            tool_class="sensitive",
        )
    ]


async def _set_recall(deps: ChatDeps, uid: UserId, arguments: SetRecall) -> ResultRenderer:
    await deps.stores.profiles.change(uid, recalls_memories=arguments.recalls)
    text = RESUMED if arguments.recalls else PAUSED
    return OwnResult(text=text, shown_text=text)
