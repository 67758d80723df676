"""Sound: every common format is read, cut where it is quiet, and leads nowhere else."""

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.errors import Invalid
from shared.library.sound import PartsFile, Piece, Sound
from tests.fixtures.sounds import CODECS, build_tone, encode
from tests.servers.transcription import measure_wav_s

PLAYLISTS = (
    "#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{path}\n#EXT-X-ENDLIST\n",
    "ffconcat version 1.0\nfile {path}\n",
    "[playlist]\nFile1={path}\n",
)


def read(content: bytes) -> list[Piece]:
    return [*Sound(io.BytesIO(content)).iterate_pieces()]


@pytest.mark.parametrize("container", CODECS)
def test_what_phones_and_browsers_record_is_read(container):
    content = encode(build_tone(3), container)
    parts = [content[start : start + 1_000] for start in range(0, len(content), 1_000)]
    file = PartsFile([len(part) for part in parts], lambda number: parts[number])

    (piece,) = Sound(io.BufferedReader(file)).iterate_pieces()

    assert piece.start == 0
    assert abs(piece.end - 3) < 0.1
    assert measure_wav_s(piece.cut(1, 2)) == 1


@pytest.mark.parametrize("container", ["mp3", "webm", "ogg", "flac"])
def test_of_a_file_that_was_cut_off_the_rest_is_read(container):
    content = encode(build_tone(4), container)

    (piece,) = read(content[: len(content) // 2])

    assert 1 < piece.end < 3


def test_long_sound_is_cut_where_it_is_quiet_and_loses_nothing():
    wav = build_tone(610, quiet=((281, 282), (290, 290.6)))

    pieces = read(wav)

    assert [piece.number for piece in pieces] == [0, 1, 2]
    assert 281 < pieces[0].end < 282
    assert b"".join(piece.samples for piece in pieces) == wav[44:]
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]


def test_a_file_tells_when_it_was_recorded():
    known = Sound(io.BytesIO(encode(build_tone(1), "mp4", created="2026-03-01T08:30:00Z")))
    unknown = Sound(io.BytesIO(encode(build_tone(1), "mp4", created="1970-01-01T00:00:00Z")))

    assert known.facts.recorded_at == datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
    assert unknown.facts.recorded_at is None


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n\x1a\n" + bytes(90), b"RIFF\x00"])
def test_what_is_no_sound_is_refused(content):
    with pytest.raises(Invalid, match="cannot be read as sound"):
        read(content)


def build_single_frame(seconds: int, *, rate: int) -> bytes:
    """Build a file whose whole sound is one frame."""
    target = io.BytesIO()
    with av.open(target, "w", format="matroska") as output:
        stream: Any = output.add_stream("pcm_s16le", rate=rate)
        frame = av.AudioFrame(format="s16", layout="mono", samples=seconds * rate)
        frame.sample_rate = rate
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return target.getvalue()


def test_a_frame_that_would_fill_the_memory_is_refused():
    (piece,) = read(build_single_frame(50, rate=100))

    assert abs(piece.end - 50) < 0.1
    with pytest.raises(Invalid, match="cannot be read as sound"):
        read(build_single_frame(2_000, rate=100))


@pytest.mark.parametrize("playlist", PLAYLISTS)
def test_a_playlist_leads_to_no_other_file(tmp_path: Path, playlist: str):
    other = tmp_path / "secret.wav"
    other.write_bytes(build_tone(1))

    with pytest.raises(Invalid):
        read(playlist.format(path=other).encode())


@given(
    content=st.binary(min_size=1, max_size=300),
    cuts=st.lists(st.integers(1, 299), max_size=5),
    reads=st.lists(st.tuples(st.integers(0, 320), st.integers(0, 320)), max_size=8),
)
def test_a_file_in_parts_reads_like_the_file(
    content: bytes, cuts: Sequence[int], reads: Sequence[tuple[int, int]]
):
    bounds = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    parts = [content[a:b] for a, b in pairwise(bounds)]
    whole = io.BytesIO(content)
    split = io.BufferedReader(PartsFile([len(part) for part in parts], lambda n: parts[n]))

    for position, size in reads:
        assert whole.seek(position) == split.seek(position)
        assert whole.read(size) == split.read(size)
