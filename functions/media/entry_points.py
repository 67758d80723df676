"""Entry points of media: files and recordings, as they come and as they are read."""

from functions.media.deps import (
    ExpireUploadDeps,
    FileDeps,
    ListenDeps,
    LiveDeps,
    TranscribeDeps,
)
from shared.edge.declare.entry_points import EntryPoint

_FILES = "functions.media.files.file_routes"

LISTEN = EntryPoint(
    name="listen",
    deps=ListenDeps,
    routes=(),
    stores=("live_conversations", "profiles"),
    application="functions.media.live.application:build_application",
)
ENTRY_POINTS = (
    EntryPoint(
        name="files",
        deps=FileDeps,
        first=f"{_FILES}:ROUTES",
        routes=(),
        serves_pages=True,
    ),
    EntryPoint(name="read_file", deps=FileDeps, first=f"{_FILES}:READ_ROUTES", routes=()),
    EntryPoint(
        name="transcribe_audio",
        deps=TranscribeDeps,
        routes=("functions.media.sound.audio_routes:TRANSCRIBE_ROUTES",),
    ),
    EntryPoint(
        name="expire_upload",
        deps=ExpireUploadDeps,
        routes=("functions.media.uploads.upload_routes:EXPIRE_ROUTES",),
    ),
    LISTEN,
    EntryPoint(
        name="end_live",
        deps=LiveDeps,
        routes=("functions.media.live.ending_routes:END_ROUTES",),
    ),
)
