"""Speech profile: a sample of the owner's voice, by which a transcriber knows them.

Also called: voice print, speaker enrolment.
"""

from datetime import datetime

from shared.domain.value import value

OWNER_VOICE = "OWNER"
"""What a transcriber calls the owner."""


@value
class SpeechProfile:
    """A sample of `size` bytes, as WAV; a transcriber is given the seconds from `clip_start_s` on.

    Until `play_key_until`, whoever has the `play_key` may hear it.
    """

    created_at: datetime
    size: int
    duration_s: float
    clip_start_s: float
    play_key: str
    play_key_until: datetime
