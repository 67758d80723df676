"""Routes of what an app shows of itself to others: its reviews and its logo."""

from typing import Any

from starlette.responses import Response

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry import reviews
from functions.tool_proxy.registry.access import require_visible
from functions.tool_proxy.registry.logos import DEFAULT_LOGO as DEFAULT_LOGO_FILE
from functions.tool_proxy.registry.schemas import AppQuery, ReviewIn, ReviewResponseIn
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, is_id
from shared.edge.declare.app_schemas import DEFAULT_LOGO, ReviewOut
from shared.edge.declare.routes import Call, route

MEDIA_TYPE = "image/webp"
CACHE_CONTROL = "public, max-age=86400"
"""For a day: an erasure cannot call back what others have cached."""


@route("GET", "/v1/apps/{app_id}/reviews", "List the newest reviews of an app", errors=(404,))
async def list_reviews(deps: ToolProxyDeps, call: Call) -> list[ReviewOut]:
    app = await require_visible(deps, call.uid, _get_app_id(call))
    listed_reviews, _ = await reviews.list_reviews(deps, call.uid, app)
    return [ReviewOut.of(review) for review in listed_reviews]


@route("POST", "/v1/apps/review", "Review an app", errors=(403, 404))
async def create_review(deps: ToolProxyDeps, call: Call[ReviewIn, AppQuery]) -> ReviewOut:
    return await _write_review(deps, call, call.query.app_id)


@route("PATCH", "/v1/apps/{app_id}/review", "Change one's review of an app", errors=(403, 404))
async def change_review(deps: ToolProxyDeps, call: Call[ReviewIn]) -> ReviewOut:
    return await _write_review(deps, call, _get_app_id(call))


@route("PATCH", "/v1/apps/{app_id}/review/reply", "Answer a review of one's app", errors=(403, 404))
async def respond(deps: ToolProxyDeps, call: Call[ReviewResponseIn]) -> ReviewOut:
    body = call.body
    review = await reviews.respond(
        deps, call.uid, _get_app_id(call), body.reviewer_uid, body.response
    )
    return ReviewOut.of(review)


@route(
    "GET",
    "/v1/apps/logos/{name}",
    "Load the picture of an app",
    access="anyone",
    errors=(404,),
    media_type=MEDIA_TYPE,
)
async def get_logo(deps: ToolProxyDeps, call: Call) -> Response:
    name = call.path["name"]
    if name == DEFAULT_LOGO:
        return _build_picture(DEFAULT_LOGO_FILE.read_bytes())
    app_id, _, logo_hash = name.removesuffix(".webp").partition("-")
    if not (is_id(app_id) and is_id(logo_hash)):
        raise NotFound("Picture not found")
    logo = await deps.stores.app_logos.find(AppId(app_id), logo_hash)
    if logo is None:
        raise NotFound("Picture not found")
    return _build_picture(logo.content)


def _build_picture(content: bytes) -> Response:
    headers = {"Cache-Control": CACHE_CONTROL, "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


async def _write_review(deps: ToolProxyDeps, call: Call[ReviewIn, Any], app_id: AppId) -> ReviewOut:
    body = call.body
    review = await reviews.write_review(
        deps, call.uid, app_id, points=body.points, text=body.review
    )
    return ReviewOut.of(review, author_id=call.uid)


def _get_app_id(call: Call[Any, Any]) -> AppId:
    return AppId(call.path["app_id"])


ROUTES = (list_reviews, create_review, change_review, respond, get_logo)
