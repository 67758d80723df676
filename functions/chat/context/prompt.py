"""System prompt and messages of a turn: stable text first, changing values last."""

import json
from collections.abc import Sequence
from datetime import datetime

from functions.chat.context.history import to_model_messages
from shared import prompts
from shared.domain.app import App
from shared.domain.chat import Message
from shared.domain.model import ModelMessage, SystemText, UserText
from shared.domain.profile import Profile


def build_prompt(
    question: str,
    *,
    history: Sequence[Message],
    summary: str = "",
    profile: Profile,
    app: App | None,
    now: datetime,
) -> list[ModelMessage]:
    """Build the model's input; all before the last message stays the same from turn to turn."""
    context = prompts.render(
        "chat/context", context="\n".join(_build_context_lines(profile, app, now))
    )
    return [
        SystemText(text=_build_system_text(app)),
        *_build_summary_messages(summary),
        *to_model_messages(history),
        UserText(text=f"{context}\n\n{question}"),
    ]


def _build_summary_messages(summary: str) -> list[ModelMessage]:
    """Quote the summary as data, because it may hold words of others."""
    if not summary:
        return []
    return [
        UserText(
            text=prompts.render("chat/earlier", summary=json.dumps(summary, ensure_ascii=False))
        )
    ]


def _build_system_text(app: App | None) -> str:
    if app is not None and app.persona_prompt is not None:
        return app.persona_prompt
    return prompts.render("chat/system")


def _build_context_lines(profile: Profile, app: App | None, now: datetime) -> list[str]:
    local_time = now.astimezone(profile.zone).replace(microsecond=0)
    lines = [f"Current time: {local_time.isoformat()} ({profile.zone.key})"]
    if profile.name:
        lines.append(f"The owner's name: {profile.name}")
    if app is not None and app.persona_prompt is None:
        lines.append(f"This chat belongs to the app {app.name!r}: {app.description!r}")
    return lines
