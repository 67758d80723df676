"""The prompt of a turn: stable text first, changing values last."""

import json
from collections.abc import Sequence
from datetime import datetime

from functions.chat.context.history import replay
from shared import prompts
from shared.domain.app import App
from shared.domain.chat import Message
from shared.domain.model import ModelMessage, SystemText, UserText
from shared.domain.profile import Profile


def build(
    question: str,
    *,
    history: Sequence[Message],
    summary: str = "",
    profile: Profile,
    app: App | None,
    now: datetime,
) -> list[ModelMessage]:
    """Build the model's input; the part before the last message is the same from turn to turn."""
    context = prompts.render("chat/context", context="\n".join(_facts(profile, app, now)))
    return [
        SystemText(text=_system(app)),
        *_earlier(summary),
        *replay(history),
        UserText(text=f"{context}\n\n{question}"),
    ]


def _earlier(summary: str) -> list[ModelMessage]:
    """A summary is made of what others said, too: it is told as data."""
    if not summary:
        return []
    return [
        UserText(
            text=prompts.render("chat/earlier", summary=json.dumps(summary, ensure_ascii=False))
        )
    ]


def _system(app: App | None) -> str:
    if app is not None and app.persona_prompt is not None:
        return app.persona_prompt
    return prompts.render("chat/system")


def _facts(profile: Profile, app: App | None, now: datetime) -> list[str]:
    local = now.astimezone(profile.zone).replace(microsecond=0)
    facts = [f"Current time: {local.isoformat()} ({profile.zone.key})"]
    if profile.name:
        facts.append(f"The owner's name: {profile.name}")
    if app is not None and app.persona_prompt is None:
        facts.append(f"This chat belongs to the app {app.name!r}: {app.description!r}")
    return facts
