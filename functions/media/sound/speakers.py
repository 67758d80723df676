"""Speakers of a recording over its pieces: known again by a clip of their voice, numbered as they come.

Also called: diarization, speaker recognition, speaker identification.
"""

from collections.abc import Sequence

from shared.domain.account.speech_profile import OWNER_VOICE
from shared.domain.conversations.speaker_labels import build_label
from shared.domain.conversations.speech import Transcription, Utterance, Voice
from shared.library.sound import Piece

MIN_CLIP_S = 2.0
MAX_CLIP_S = 10.0
"""What a transcriber takes as a sample of a voice."""


class Speakers:
    """Labels SPEAKER_nn for what single transcriptions call their speakers.

    A speaker whose voice no clip shows is somebody new in the next piece. The owner, whose voice is known before,
    has OWNER_VOICE as a label.
    """

    def __init__(self, owner: Voice | None = None) -> None:
        self._owner = owner
        self._count = 0
        self._clips: dict[str, tuple[float, bytes]] = {}

    @property
    def voices(self) -> list[Voice]:
        """The owner's, and the voices heard so far, those of the longest clips first."""
        longest = sorted(self._clips.items(), key=lambda item: -item[1][0])
        heard = [Voice(name=label, clip=clip) for label, (_, clip) in longest]
        return [self._owner, *heard] if self._owner else heard

    def label(self, transcription: Transcription) -> tuple[Utterance, ...]:
        """Return what was said with labels of the whole recording, and times of the piece."""
        known = {voice.name for voice in self.voices}
        labels: dict[str | None, str] = {}
        for utterance in transcription.utterances:
            speaker = utterance.speaker
            if speaker not in labels:
                is_known = speaker in known
                labels[speaker] = speaker if is_known and speaker else self._name_next(speaker)
        return tuple(
            Utterance(text=u.text, start=u.start, end=u.end, speaker=labels[u.speaker])
            for u in transcription.utterances
        )

    def remember(self, piece: Piece, utterances: Sequence[Utterance]) -> None:
        """Take clips of labelled speakers, with times of the whole recording, from their piece."""
        for utterance in utterances:
            if utterance.speaker == OWNER_VOICE:
                continue
            label = utterance.speaker or build_label(0)
            number = int(label.removeprefix("SPEAKER_"))
            self._count = max(self._count, number + 1)
            length_s = min(utterance.end - utterance.start, MAX_CLIP_S)
            known_s = self._clips[label][0] if label in self._clips else 0.0
            if length_s >= MIN_CLIP_S and length_s > known_s:
                clip = piece.cut(utterance.start, utterance.start + length_s)
                self._clips[label] = (length_s, clip)

    def _name_next(self, speaker: str | None) -> str:
        """Return the next label; all that a model does not tell apart is one speaker."""
        if speaker is None:
            return build_label(0)
        self._count += 1
        return build_label(self._count - 1)
