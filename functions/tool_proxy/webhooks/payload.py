"""Webhook payload: a conversation in the old product's format; fields that we lack are empty.

The place of a conversation is not among them: its owner was not asked whether an app may know it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from shared.domain.apps.webhook import Trigger
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.ids import UserId


def build_payload(conversation: Conversation, trigger: Trigger) -> bytes:
    """Encode a conversation; of one version, every attempt has the same bytes."""
    payload = {
        "trigger": trigger,
        "id": conversation.id,
        "created_at": conversation.created_at,
        "started_at": conversation.started_at,
        "finished_at": conversation.finished_at,
        "source": conversation.source,
        "language": conversation.language,
        "structured": asdict(conversation.structured),
        "transcript_segments": [segment.to_fields() for segment in conversation.labelled_segments],
        "app_id": conversation.app_id,
        "discarded": conversation.discarded,
        "starred": conversation.starred,
        "status": conversation.status,
        "visibility": conversation.visibility,
        "is_locked": False,
        "geolocation": None,
        "external_data": conversation.external_data,
        "photos": [_build_photo(photo) for photo in conversation.photos if not photo.discarded],
        "audio_files": [],
        "apps_results": [
            {"app_id": result.app_id, "content": result.content}
            for result in conversation.apps_results
        ],
        "plugins_results": [
            {"plugin_id": result.app_id or "", "content": result.content}
            for result in conversation.apps_results
        ],
    }
    return _encode(payload)


def build_live_payload(user_id: str, segments: Sequence[Segment]) -> bytes:
    """Encode what was just said, for one who knows the user by this id."""
    payload = {"session_id": user_id, "segments": [segment.to_fields() for segment in segments]}
    return _encode(payload)


def build_summary_payload(uid: UserId, summary: DailySummary) -> bytes:
    """Encode a daily summary for its user's own server."""
    payload = {
        "trigger": "day_summary",
        "uid": uid,
        "date": summary.id,
        "created_at": summary.created_at,
        "summary": f"{summary.headline}\n\n{summary.overview}".strip(),
    }
    return _encode(payload)


def _encode(payload: Mapping[str, Any]) -> bytes:
    text = json.dumps(payload, ensure_ascii=False, default=datetime.isoformat)
    return text.encode(errors="replace")


def _build_photo(photo: Photo) -> dict[str, Any]:
    """Released apps accept only texts here."""
    return {
        "id": photo.id,
        "base64": photo.base64 or "",
        "description": photo.description or "",
        "created_at": photo.created_at,
        "discarded": False,
    }
