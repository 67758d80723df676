"""Shared page: a conversation or tasks as HTML, for people who open a link; nothing in it is active.

Also called: XSS defence, HTML escaping, content security policy.
"""

from collections.abc import Iterator, Sequence
from html import escape

from starlette.responses import HTMLResponse

from shared.domain.conversations.conversation import Conversation, LabelledSegment
from shared.domain.tasks.task_share import SharedTask
from shared.security.visible_text import strip_invisible

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>{title}</title>
<h1 dir="auto">{title}</h1>
{body}
</html>
"""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}


def render_conversation(conversation: Conversation) -> HTMLResponse:
    """Show title, time, overview, tasks and transcript."""
    title = conversation.structured.title or "Conversation"
    return _render_page(title, "\n".join(_build_body(conversation)))


def render_tasks(sender_name: str | None, tasks: Sequence[SharedTask]) -> HTMLResponse:
    """Show what is to be done until when, and who says so."""
    items = "".join(f'<li dir="auto">{_escape(_describe_task(task))}</li>' for task in tasks)
    return _render_page(f"Tasks from {sender_name or 'someone'}", f"<ul>{items}</ul>")


def render_not_found(text: str) -> HTMLResponse:
    return _render_page("Not found", f"<p>{escape(text)}</p>", status=404)


def _build_body(conversation: Conversation) -> Iterator[str]:
    structured = conversation.structured
    yield f"<p>{conversation.started_at:%-d %B %Y, %H:%M} UTC</p>"
    if structured.overview:
        yield f'<p dir="auto">{_escape(structured.overview)}</p>'
    if structured.action_items:
        items = [f'<li dir="auto">{_escape(i.description)}</li>' for i in structured.action_items]
        yield f"<h2>To do</h2>\n<ul>{''.join(items)}</ul>"
    if conversation.transcript_segments:
        yield "<h2>Transcript</h2>"
        yield from map(_build_line, conversation.labelled_segments)


def _build_line(segment: LabelledSegment) -> str:
    name = segment.speaker_name or ("Owner" if segment.is_user else f"Speaker {segment.speaker_id}")
    return f'<p dir="auto"><b>{_escape(name)}:</b> {_escape(segment.text)}</p>'


def _describe_task(task: SharedTask) -> str:
    return (
        f"{task.description} (until {task.due_at:%-d %B %Y})" if task.due_at else task.description
    )


def _escape(text: str) -> str:
    return escape(strip_invisible(text))


def _render_page(title: str, body: str, *, status: int = 200) -> HTMLResponse:
    page = _PAGE.format(title=_escape(title), body=body)
    return HTMLResponse(page, status_code=status, headers=_HEADERS)
