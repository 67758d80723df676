"""Account over HTTP: export everything, erase everything or all sound, or sign out everywhere."""

from starlette.datastructures import Headers
from starlette.responses import StreamingResponse

from functions.library.account.account_schemas import EraseIn, ErasureOut, ExportQuery, SignOutIn
from functions.library.account.erase_account import erase, request_erasure
from functions.library.account.export import export_json, export_zip
from functions.library.account.user_settings_schemas import RecordingPermissionOut
from functions.library.deps import EraseDeps
from shared.domain.account.account import Erasure, round_up_to_second
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps
from shared.library.recordings import delete_sound

ZIP_MEDIA_TYPE = "application/zip"


@route(
    "GET",
    "/v1/users/export",
    "Take everything along: one JSON object, or a zip of JSON with Accept: application/zip",
    errors=(401, 422),
    check="revocation",
)
async def export_account(deps: LibraryDeps, call: Call[None, ExportQuery]) -> StreamingResponse:
    is_zip = (call.query.format or _parse_format(call.headers)) == "zip"
    name = f"keepsake-{deps.clock.now().date().isoformat()}.{'zip' if is_zip else 'json'}"
    return StreamingResponse(
        (export_zip if is_zip else export_json)(deps, call.uid),
        media_type=ZIP_MEDIA_TYPE if is_zip else "application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept"},
    )


def _parse_format(headers: Headers) -> str:
    """Released apps say nothing of it, and save JSON."""
    return "zip" if ZIP_MEDIA_TYPE in headers.get("accept", "") else "json"


@route(
    "DELETE",
    "/v1/users/delete-account",
    "Erase everything that is kept of the owner; it goes on behind the answer",
    errors=(401,),
    check="erasure_request",
)
async def delete_account(deps: LibraryDeps, call: Call) -> ErasureOut:
    """Start the erasure. The reason that released apps send is not read: it would outlive its owner."""
    return _to_erasure_out(deps, await request_erasure(deps, call.uid))


@route(
    "GET",
    "/v1/users/delete-account",
    "Say how far the erasure is",
    errors=(401,),
    check="erasure_status",
)
async def get_erasure(deps: LibraryDeps, call: Call) -> ErasureOut:
    """Answer tokens from before the erasure too: nobody else could learn of its end."""
    erasure = await deps.erasures.get(call.uid)
    return (
        _to_erasure_out(deps, erasure)
        if erasure
        else ErasureOut(status="none", note=deps.erasure_note)
    )


@route(
    "POST",
    "/v1/users/sign-out",
    "Sign out everywhere: no token of before is accepted any more",
    errors=(401,),
)
async def sign_out_everywhere(deps: LibraryDeps, call: Call[SignOutIn]) -> OkOut:
    """Answer once a new token is told from an older one: tokens name whole seconds.

    What can be asked for again comes first, since the token that asks ends here. Devices get no more pushes.
    Connected programs end once no session of before can let in another.
    """
    now = deps.clock.now()
    if call.body.revokes_keys:
        for keys in (deps.stores.mcp_keys, deps.stores.developer_keys):
            await keys.remove_all(call.uid)
    for device in await deps.stores.devices.list_all(call.uid):
        await deps.stores.devices.remove(call.uid, device.id)
    ended_at = round_up_to_second(now)
    await deps.stores.sign_outs.put(call.uid, ended_at)
    await deps.stores.connected_programs.remove_all(call.uid)
    await deps.clock.sleep(max((ended_at - deps.clock.now()).total_seconds(), 0))
    return OkOut()


@route(
    "DELETE",
    "/v1/users/store-recording-permission",
    "Keep no sound of recordings, and delete what is kept",
    errors=(401,),
)
async def delete_kept_sound(deps: LibraryDeps, call: Call) -> RecordingPermissionOut:
    """Delete the sound of recordings that are text; of the others it goes as soon as they are."""
    await deps.stores.profiles.change(call.uid, keeps_audio=False)
    async for recording in deps.stores.recordings.iter_kept(call.uid):
        await delete_sound(deps, call.uid, recording.id)
    return RecordingPermissionOut(store_recording_permission=False)


def _to_erasure_out(deps: LibraryDeps, erasure: Erasure) -> ErasureOut:
    return ErasureOut.model_validate(erasure).model_copy(update={"note": deps.erasure_note})


@route("POST", "/", "An account is to be erased", access="service", status=204)
async def on_erasure(deps: EraseDeps, call: Call[EraseIn]) -> None:
    await erase(deps, call.body.erasure_id, is_sweep=call.body.is_sweep)


ROUTES = (
    export_account,
    delete_account,
    get_erasure,
    sign_out_everywhere,
    delete_kept_sound,
)
ERASE_ROUTES = (on_erasure,)
