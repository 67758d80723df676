"""Python client of Keepsake: its API, and answers as they are written."""

from keepsake_client.answer import Answer, AnswerLost, Event
from keepsake_client.client import Keepsake
from keepsake_client.problems import RequestFailed

__all__ = ["Answer", "AnswerLost", "Event", "Keepsake", "RequestFailed"]
