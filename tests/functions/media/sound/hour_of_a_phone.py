"""An hour of a phone's files, taken and heard in a process of its own, which writes its peaks of memory in MB.

`python -m tests.functions.media.sound.hour_of_a_phone FOLDER`
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from functions.media.deps import TranscribeDeps
from functions.media.sound.sync_files import take_files
from functions.media.sound.transcribe import transcribe
from shared.adapters.embedded.disk_blobs import DiskBlobs
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.edge.declare.routes import UploadedFile
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, build_processing_fixture
from tests.fixtures.sounds import put_lengths_before

MINUTES = 60
START = 1_772_438_400
PACKET = b"\xfb\x41\x50\xff\xfe" + bytes(80)
"""20 ms of silence, padded to what speech takes up."""
SPEECH = [[(None, 1.0, 3.0, "Words.")] for _ in range(MINUTES)]


async def play_hour(folder: Path) -> dict[str, float]:
    world = build_processing_fixture(SqliteDatabase(folder / "keepsake.db"), ScriptedModel())
    transcriber = ScriptedTranscriber(SPEECH, tells_speakers=False)
    blobs = DiskBlobs(folder / "blobs")
    library = replace(build_library_deps(world, transcriber=transcriber), blobs=blobs)
    names = TranscribeDeps.__dataclass_fields__
    deps = TranscribeDeps(**{name: getattr(library, name) for name in names})
    peaks = {"before": measure_mb()}
    job = await take_files(library, ALICE, build_files())
    peaks["taken"] = measure_mb()
    (name,) = job.recording_ids
    await transcribe(deps, ALICE, name)
    peaks["heard"] = measure_mb()
    conversation = await library.stores.conversations.get_stored(ALICE, name)
    seconds = (conversation.finished_at - conversation.started_at).total_seconds()
    return {**peaks, "seconds": seconds}


def build_files() -> list[UploadedFile]:
    """Build each file anew: no two share their memory."""
    return [
        UploadedFile(
            name=f"audio_omi_opus_fs320_16000_1_fs320_{START + 60 * n}.bin",
            content=put_lengths_before([PACKET] * 3_000),
        )
        for n in range(MINUTES)
    ]


def measure_mb() -> float:
    """Return the peak of this program; `getrusage` would begin with that of whoever started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak_kb,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak_kb) / 1_024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(play_hour(Path(sys.argv[1])))))
