"""The account over HTTP: everything handed over, or everything erased."""

from starlette.responses import StreamingResponse

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.library.erase_account import request_erasure
from functions.process_conversation.library.export import export
from functions.process_conversation.library.schemas import ErasureOut
from shared.edge.http import Call, Endpoint


async def export_account(deps: LibraryDeps, call: Call[None]) -> StreamingResponse:
    day = deps.clock.now().date().isoformat()
    return StreamingResponse(
        export(deps, call.uid),
        media_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="keepsake-{day}.zip"'},
    )


async def delete_account(deps: LibraryDeps, call: Call[None]) -> ErasureOut:
    return ErasureOut.model_validate(await request_erasure(deps, call.uid))


async def get_erasure(deps: LibraryDeps, call: Call[None]) -> ErasureOut:
    erasure = await deps.stores.erasures.get(call.uid)
    return ErasureOut.model_validate(erasure) if erasure else ErasureOut(status="none")


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/v1/users/export",
        handler=export_account,
        summary="Take everything along, as a zip of JSON",
        media_type="application/zip",
        errors=(401,),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/users/delete-account",
        handler=delete_account,
        summary="Erase everything that is kept of the owner",
        response=ErasureOut,
        status=202,
        errors=(401,),
    ),
    Endpoint(
        method="GET",
        path="/v1/users/delete-account",
        handler=get_erasure,
        summary="Say how far the erasure is",
        response=ErasureOut,
        errors=(401,),
    ),
)
