"""Speech profile over HTTP, as the Omi app takes a sample of the owner's voice and plays it."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from functions.media.keyed_addresses import KeyedAddress
from functions.media.sound.speech_profile import (
    MAX_S,
    delete_speech_profile,
    open_speech_profile,
    store_speech_profile,
)
from shared.data.account.speech_profiles import speech_profile_path
from shared.domain.account.speech_profile import SpeechProfile
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import UserId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, Form, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps

MAX_FORM_FILE_BYTES = 31_457_280
NOT_FOUND = "There is no sample of your voice."
NO_FILE = "Send a sample of your voice as the field 'file' of a form."


class HasProfileOut(Wire):
    has_profile: bool


class ProfileUrlOut(Wire):
    """Where the sample is played, for an hour; null where there is none."""

    url: str | None


class StoredProfileOut(Wire):
    """Where the sample that was taken is played, for an hour."""

    url: str


class AvailabilityOut(Wire):
    """Whether anything turns speech into text here."""

    available: bool


class SampleIn(Wire):
    """No field beside the file."""


class FurtherSampleQuery(Wire):
    """A line of a conversation as a further sample of a voice: of a person, else of the owner."""

    memory_id: Annotated[str, Field(max_length=128)]
    segment_idx: int
    person_id: Annotated[str | None, Field(max_length=128)] = None


@route(
    "POST",
    "/v3/upload-audio",
    f"Take a sample of the owner's voice, of up to {MAX_S:.0f} seconds, in place of an earlier one",
    errors=(401, 413, 422, 429),
    form=Form(json_field=None, file_field="file", max_file_bytes=MAX_FORM_FILE_BYTES),
)
async def add_speech_profile(deps: LibraryDeps, call: Call[SampleIn]) -> StoredProfileOut:
    if call.file is None:
        raise Invalid(NO_FILE)
    profile = await store_speech_profile(deps, call.uid, call.file.content)
    return StoredProfileOut(url=_build_url(deps, call.uid, profile))


@route("GET", "/v3/speech-profile", "Say whether the owner's voice is known")
async def has_speech_profile(deps: LibraryDeps, call: Call) -> HasProfileOut:
    profile = await deps.stores.speech_profiles.find(call.uid)
    return HasProfileOut(has_profile=profile is not None)


@route("DELETE", "/v3/speech-profile", "Delete the sample of the owner's voice", status=204)
async def remove_speech_profile(deps: LibraryDeps, call: Call) -> None:
    await delete_speech_profile(deps, call.uid)


@route("GET", "/v4/speech-profile", "Say where the sample of the owner's voice is played")
async def get_speech_profile(deps: LibraryDeps, call: Call) -> ProfileUrlOut:
    profile = await open_speech_profile(deps, call.uid)
    return ProfileUrlOut(url=_build_url(deps, call.uid, profile) if profile else None)


@route(
    "GET",
    "/v4/speech-profile/sound",
    "Hear the sample by its address, which the Omi app opens without a token",
    access="anyone",
    errors=(404, 422),
    media_type="audio/wav",
)
async def play_speech_profile(deps: LibraryDeps, call: Call[None, KeyedAddress]) -> Response:
    uid = call.query.find_owner(NOT_FOUND)
    profile = await deps.stores.speech_profiles.find(uid)
    if profile is None or not _fits(deps, profile, call.query):
        raise NotFound(NOT_FOUND)
    content = await deps.blobs.read(speech_profile_path(uid))
    return Response(content, media_type="audio/wav", headers={"Cache-Control": "private, no-store"})


def _fits(deps: LibraryDeps, profile: SpeechProfile, address: KeyedAddress) -> bool:
    return deps.clock.now() < profile.play_key_until and address.has_key(profile.play_key)


def _build_url(deps: LibraryDeps, uid: UserId, profile: SpeechProfile) -> str:
    return f"{deps.public_url}/v4/speech-profile/sound?owner={uid}&key={profile.play_key}"


@route(
    "DELETE",
    "/v3/speech-profile/expand",
    "Delete a further sample; none is kept beside the one that was recorded for it",
    errors=(401, 422),
)
async def delete_further_sample(
    deps: LibraryDeps,  # noqa: ARG001 - a route
    call: Call[None, FurtherSampleQuery],  # noqa: ARG001 - a route
) -> OkOut:
    return OkOut()


@route(
    "GET",
    "/v3/speech-profile/stt-availability",
    "Say whether anything turns speech into text here",
)
async def get_availability(deps: LibraryDeps, call: Call) -> AvailabilityOut:  # noqa: ARG001 - a route
    return AvailabilityOut(available=deps.transcriber.is_ready)


ROUTES = (
    add_speech_profile,
    has_speech_profile,
    remove_speech_profile,
    get_speech_profile,
    play_speech_profile,
    delete_further_sample,
    get_availability,
)
