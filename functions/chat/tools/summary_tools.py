"""Daily summary tool: switch the owner's daily summaries on or off, and choose their hour."""

from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ChangeResult, ResultRenderer, Tool, render_fixed
from shared.arguments import Arguments
from shared.domain.chats.library_change import LibraryChange, describe_settings
from shared.domain.ids import UserId
from shared.library.summary_schedule import schedule_recent_days


class ManageDailySummary(Arguments):
    """Read or change when the owner gets the summary of their day; what is left out stays."""

    enabled: Annotated[bool | None, Field(description="Whether there are daily summaries.")] = None
    hour: Annotated[
        int | None,
        Field(
            ge=0,
            le=23,
            description="The local hour; one before noon is that of the next morning.",
        ),
    ] = None


def build_summary_tools(deps: ChatDeps, uid: UserId) -> list[Tool]:
    return [
        build_builtin_tool(
            "manage_daily_summary",
            "Checking daily summaries",
            ManageDailySummary,
            partial(_manage_daily_summary, deps, uid),
            tool_class="write",
            sensitive_arguments=tuple(ManageDailySummary.model_fields),
        )
    ]


async def _manage_daily_summary(
    deps: ChatDeps, uid: UserId, arguments: ManageDailySummary
) -> ResultRenderer:
    changes = arguments.model_dump(exclude_none=True)
    if not changes:
        profile = await deps.stores.profiles.get(uid)
        return render_fixed(f"{describe_settings(profile.daily_summary)}.")
    before, profile = await deps.stores.profiles.change_daily_summary(uid, **changes)
    await schedule_recent_days(deps.tasks, uid, profile, deps.clock.now())
    after = profile.daily_summary
    if after == before:
        return render_fixed(f"Nothing to change: {describe_settings(after)}.")
    text = describe_settings(after)
    change = LibraryChange(id=deps.new_id(), text=text, before=before, after=after)
    notice = f"Changed: {text}."
    return ChangeResult(text=notice, shown_text=notice, change=change)
