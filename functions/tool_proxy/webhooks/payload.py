"""Webhook payload: a conversation in the old product's format; fields that we lack are empty."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from shared.domain.conversation import Conversation


def build_payload(conversation: Conversation) -> bytes:
    """Encode a conversation; every attempt has the same bytes."""
    payload = {
        "id": conversation.id,
        "created_at": conversation.created_at,
        "started_at": conversation.started_at,
        "finished_at": conversation.finished_at,
        "source": conversation.source,
        "language": conversation.language,
        "structured": asdict(conversation.structured),
        "transcript_segments": _build_segments(conversation),
        "app_id": conversation.app_id,
        "discarded": conversation.discarded,
        "starred": conversation.starred,
        "status": conversation.status,
        "visibility": "private",
        "is_locked": False,
        "geolocation": None,
        "external_data": None,
        "photos": [],
        "audio_files": [],
        "apps_results": [],
        "plugins_results": [],
    }
    return json.dumps(payload, ensure_ascii=False, default=datetime.isoformat).encode(
        errors="replace"
    )


def _build_segments(conversation: Conversation) -> list[dict[str, Any]]:
    """Number the speakers in the order in which they first speak."""
    labels = [segment.speaker for segment in conversation.transcript_segments]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return [
        {**named_segment.to_fields(), "speaker_id": numbers[label]}
        for named_segment, label in zip(conversation.named_segments, labels, strict=True)
    ]
