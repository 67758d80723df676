"""Routes of the directory: the lists in which users find apps, and what a developer's form offers."""

from collections.abc import Iterable, Mapping
from typing import Any

from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry import directory
from functions.tool_proxy.registry.directory import Criteria
from functions.tool_proxy.registry.directory_schemas import (
    AppPageOut,
    CapabilityGroupsOut,
    CapabilityOut,
    CategoryGroupOut,
    FiltersOut,
    HeadingOut,
    SearchQuery,
    SectionOut,
    SectionQuery,
    SectionsOut,
    TotalsOut,
    build_category_headings,
    build_heading,
    build_pagination,
)
from shared.domain.apps.app import App, InstalledApp
from shared.domain.apps.app_catalog import CAPABILITIES, CATEGORIES, SECTIONS
from shared.domain.ids import AppId
from shared.edge.declare.app_schemas import AppOut, AppViewer
from shared.edge.declare.routes import Call, route


@route("GET", "/v2/apps", "List apps by section, or a page of one category or capability")
async def list_sections(
    deps: ToolProxyDeps, call: Call[None, SectionQuery]
) -> SectionsOut | AppPageOut:
    query = call.query
    if query.category or query.capability:
        criteria = Criteria(category=query.category, section=query.capability)
        page = await _load_page(deps, call, criteria)
        return page.model_copy(
            update={
                "category": _find_heading(CATEGORIES, query.category),
                "capability": _find_heading(SECTIONS, query.capability),
            }
        )
    groups = await directory.list_sections(deps, call.uid, offset=query.offset, limit=query.limit)
    return SectionsOut(
        groups=[
            SectionOut(
                capability=build_heading(group),
                data=_to_app_outs(deps, call, group.apps),
                pagination=build_pagination(
                    total=group.count,
                    count=len(group.apps),
                    offset=query.offset,
                    limit=min(query.limit, directory.MAX_APPS_PER_SECTION),
                ),
            )
            for group in groups
        ]
    )


@route("GET", "/v2/apps/search", "Search apps by words and filters")
async def search_apps(deps: ToolProxyDeps, call: Call[None, SearchQuery]) -> AppPageOut:
    page = await _load_page(deps, call, call.query.to_criteria())
    return page.model_copy(update={"filters": FiltersOut.model_validate(call.query)})


@route(
    "GET",
    "/v2/apps/capability/{capability_id}/grouped",
    "List the apps of a capability by category",
    errors=(404,),
)
async def list_apps_of_capability(deps: ToolProxyDeps, call: Call) -> CapabilityGroupsOut:
    section = call.path["capability_id"]
    groups = await directory.list_categories_of(deps, call.uid, section)
    return CapabilityGroupsOut(
        groups=[
            CategoryGroupOut(
                category=build_heading(group),
                data=_to_app_outs(deps, call, group.apps),
                count=group.count,
            )
            for group in groups
        ],
        capability=HeadingOut(id=section, title=SECTIONS[section]),
        meta=TotalsOut(totalApps=sum(group.count for group in groups), groupCount=len(groups)),
    )


@route("GET", "/v1/apps/popular", "List the apps that most users have installed")
async def list_popular(deps: ToolProxyDeps, call: Call) -> list[AppOut]:
    return _to_app_outs(deps, call, await directory.list_popular(deps, call.uid))


@route("GET", "/v1/apps/enabled", "List the ids of installed apps")
async def list_enabled_ids(deps: ToolProxyDeps, call: Call) -> list[AppId]:
    return [entry.app_id for entry in await deps.stores.installed_apps.list_all(call.uid)]


@route("GET", "/v1/app-categories", "List the categories of apps")
async def list_categories(_: ToolProxyDeps, call: Call) -> list[HeadingOut]:  # noqa: ARG001 - the same for everybody
    return build_category_headings()


@route("GET", "/v1/app-capabilities", "List what an app can be, and what it then chooses")
async def list_capabilities(_: ToolProxyDeps, call: Call) -> list[CapabilityOut]:  # noqa: ARG001 - the same for everybody
    return [CapabilityOut.of(capability) for capability in CAPABILITIES]


async def _load_page(
    deps: ToolProxyDeps,
    call: Call[None, SectionQuery] | Call[None, SearchQuery],
    criteria: Criteria,
) -> AppPageOut:
    query = call.query
    known = await directory.load_directory(deps, call.uid)
    found = known.find(criteria)
    listings = found[query.offset : query.offset + query.limit]
    apps = await directory.load_apps(deps, call.uid, known, listings)
    return AppPageOut(
        data=_to_app_outs(deps, call, apps),
        pagination=build_pagination(
            total=len(found), count=len(apps), offset=query.offset, limit=query.limit
        ),
    )


def _find_heading(titles: Mapping[str, str], id_: str | None) -> HeadingOut | None:
    title = titles.get(id_ or "")
    return HeadingOut(id=id_ or "", title=title) if title else None


def _to_app_outs(
    deps: ToolProxyDeps, call: Call[Any, Any], apps: Iterable[tuple[App, InstalledApp | None]]
) -> list[AppOut]:
    viewer = AppViewer(uid=call.uid, public_url=deps.public_url)
    return [AppOut.of(app, viewer, installation) for app, installation in apps]


ROUTES = (
    list_sections,
    search_apps,
    list_apps_of_capability,
    list_popular,
    list_enabled_ids,
    list_categories,
    list_capabilities,
)
