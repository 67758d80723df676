"""Account over HTTP: export everything, or erase everything."""

from starlette.responses import StreamingResponse

from functions.process_conversation.deps import EraseDeps, LibraryDeps, RetentionDeps
from functions.process_conversation.library.erase_account import erase, request_erasure
from functions.process_conversation.library.export import export
from functions.process_conversation.library.retention import apply_retention
from functions.process_conversation.library.schemas import EraseIn, ErasureOut, RetentionIn
from shared.domain.account import Erasure
from shared.edge.routes import Call, route


@route(
    "GET",
    "/v1/users/export",
    "Take everything along, as a zip of JSON",
    errors=(401,),
    check="revocation",
    media_type="application/zip",
)
async def export_account(deps: LibraryDeps, call: Call) -> StreamingResponse:
    day = deps.clock.now().date().isoformat()
    return StreamingResponse(
        export(deps, call.uid),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="keepsake-{day}.zip"'},
    )


@route(
    "DELETE",
    "/v1/users/delete-account",
    "Erase everything that is kept of the owner",
    status=202,
    errors=(401,),
    check="erasure_request",
)
async def delete_account(deps: LibraryDeps, call: Call) -> ErasureOut:
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


def _to_erasure_out(deps: LibraryDeps, erasure: Erasure) -> ErasureOut:
    return ErasureOut.model_validate(erasure).model_copy(update={"note": deps.erasure_note})


@route("POST", "/", "An account is to be erased", access="service", status=204)
async def on_erasure(deps: EraseDeps, call: Call[EraseIn]) -> None:
    await erase(deps, call.body.erasure_id, is_sweep=call.body.is_sweep)


@route("POST", "/", "Old transcripts are to be deleted", access="service", status=204)
async def on_retention(deps: RetentionDeps, call: Call[RetentionIn]) -> None:
    await apply_retention(deps, call.body.uid, set_at=call.body.set_at)


ROUTES = (
    export_account,
    delete_account,
    get_erasure,
)
ERASE_ROUTES = (on_erasure,)
RETENTION_ROUTES = (on_retention,)
