"""History reasons: why a question in a sealed chat cannot be answered from the cache."""

from typing import Literal

HistoryReason = Literal["cache_miss", "decryption_failed", "insufficient_history"]
