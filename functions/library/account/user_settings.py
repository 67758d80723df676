"""User settings over HTTP: language, place, onboarding, and ratings of summaries."""

from typing import Any

from functions.library.account.user_settings_schemas import (
    HearingIn,
    HearingOut,
    KeptSoundIn,
    KeptSoundOut,
    LanguageIn,
    LanguageOut,
    OnboardingIn,
    OnboardingOut,
    PlaceIn,
    RecordingPermissionOut,
    SummaryRatingIn,
    SummaryRatingOut,
    SummaryRatingQuery,
)
from shared.domain.account.profile import Profile
from shared.domain.ids import ConversationId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps

_PERMISSION = "/v1/users/store-recording-permission"
_PREFERENCES = "/v1/users/transcription-preferences"


@route("GET", "/v1/users/language", "Read the owner's language", errors=(401,))
async def get_language(deps: LibraryDeps, call: Call) -> LanguageOut:
    return LanguageOut.model_validate(await deps.stores.profiles.get(call.uid))


@route("PATCH", "/v1/users/language", "Choose the language", errors=(400, 401, 413, 415, 422))
async def set_language(deps: LibraryDeps, call: Call[LanguageIn]) -> LanguageOut:
    return LanguageOut.model_validate(
        await deps.stores.profiles.change(call.uid, language=call.body.language)
    )


@route(
    "PATCH",
    "/v1/users/geolocation",
    "Say where the owner is; the next conversation took place there",
    errors=(400, 401, 413, 415, 422),
    ignores_unknown_fields=True,
)
async def set_place(deps: LibraryDeps, call: Call[PlaceIn]) -> OkOut:
    place = call.body.to_geolocation().with_time(deps.clock.now())
    await deps.stores.profiles.change(call.uid, place=place)
    return OkOut()


@route("GET", "/v1/users/onboarding", "Read whether the owner is past the welcome", errors=(401,))
async def get_onboarding(deps: LibraryDeps, call: Call) -> OnboardingOut:
    return _to_onboarding_out(await deps.stores.profiles.get(call.uid))


@route("PATCH", "/v1/users/onboarding", "Record it", errors=(400, 401, 413, 415, 422))
async def set_onboarding(deps: LibraryDeps, call: Call[OnboardingIn]) -> OnboardingOut:
    changes: dict[str, Any] = {}
    if call.body.completed is not None:
        changes["is_onboarded"] = call.body.completed
    if call.body.acquisition_source is not None:
        changes["acquisition_source"] = call.body.acquisition_source
    return _to_onboarding_out(await deps.stores.profiles.change(call.uid, **changes))


@route("GET", "/v1/users/private-cloud-sync", "Say whether sound is kept", errors=(401,))
async def get_kept_sound(deps: LibraryDeps, call: Call) -> KeptSoundOut:
    profile = await deps.stores.profiles.get(call.uid)
    return KeptSoundOut(private_cloud_sync_enabled=profile.keeps_audio)


@route(
    "POST",
    "/v1/users/private-cloud-sync",
    "Keep the sound of recordings from now on, or do not",
    errors=(401, 422),
)
async def set_kept_sound(deps: LibraryDeps, call: Call[None, KeptSoundIn]) -> KeptSoundOut:
    profile = await deps.stores.profiles.change(call.uid, keeps_audio=call.query.value)
    return KeptSoundOut(private_cloud_sync_enabled=profile.keeps_audio)


@route("GET", _PERMISSION, "Say whether sound is kept", errors=(401,))
async def get_recording_permission(deps: LibraryDeps, call: Call) -> RecordingPermissionOut:
    """Answer as private-cloud-sync does: what is kept is kept here, in the owner's own cloud."""
    profile = await deps.stores.profiles.get(call.uid)
    return RecordingPermissionOut(store_recording_permission=profile.keeps_audio)


@route("POST", _PERMISSION, "Allow that sound is kept, or forbid it", errors=(401, 422))
async def set_recording_permission(
    deps: LibraryDeps, call: Call[None, KeptSoundIn]
) -> RecordingPermissionOut:
    profile = await deps.stores.profiles.change(call.uid, keeps_audio=call.query.value)
    return RecordingPermissionOut(store_recording_permission=profile.keeps_audio)


@route("GET", _PREFERENCES, "Read how recordings are transcribed", errors=(401,))
async def get_hearing(deps: LibraryDeps, call: Call) -> HearingOut:
    return HearingOut.of((await deps.stores.profiles.get(call.uid)).hearing)


@route(
    "PATCH",
    _PREFERENCES,
    "Name words that transcribers mistake, or have all heard in the owner's language",
    errors=(400, 401, 413, 415, 422),
    max_bytes=32_768,
)
async def set_hearing(deps: LibraryDeps, call: Call[HearingIn]) -> HearingOut:
    profile = await deps.stores.profiles.change_hearing(call.uid, **call.body.to_changes())
    return HearingOut.of(profile.hearing)


def _to_onboarding_out(profile: Profile) -> OnboardingOut:
    return OnboardingOut(
        completed=profile.is_onboarded, acquisition_source=profile.acquisition_source
    )


@route(
    "POST",
    "/v1/users/analytics/memory_summary",
    "Rate the summary of a conversation",
    errors=(401, 404, 422),
)
async def rate_summary(deps: LibraryDeps, call: Call[None, SummaryRatingIn]) -> OkOut:
    query = call.query
    await deps.stores.summary_ratings.set(
        call.uid,
        ConversationId(query.memory_id),
        query.value,
        query.reason,
        now=deps.clock.now(),
    )
    return OkOut()


@route(
    "GET",
    "/v1/users/analytics/memory_summary",
    "Say whether the summary of a conversation was rated",
    errors=(401, 404, 422),
)
async def get_summary_rating(
    deps: LibraryDeps, call: Call[None, SummaryRatingQuery]
) -> SummaryRatingOut:
    conversation_id = ConversationId(call.query.memory_id)
    return SummaryRatingOut(
        has_rating=await deps.stores.summary_ratings.has_rating(call.uid, conversation_id)
    )


ROUTES = (
    get_language,
    set_language,
    set_place,
    get_onboarding,
    set_onboarding,
    get_kept_sound,
    set_kept_sound,
    get_recording_permission,
    set_recording_permission,
    get_hearing,
    set_hearing,
    rate_summary,
    get_summary_rating,
)
