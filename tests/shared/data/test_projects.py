"""Projects over storage: limits and deletions under concurrency (X12)."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from shared.data.projects import Projects
from shared.data.sessions import Sessions
from shared.domain.chat import build_session
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import ProjectId, SessionId, UserId
from shared.domain.project import MAX_PROJECTS, Project
from shared.ports import Documents

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BOAT = ProjectId("boat")


async def add(projects: Projects, name: str) -> None:
    project = Project(id=ProjectId(name), name=name, created_at=NOON, updated_at=NOON)
    with suppress(Conflict):
        await projects.change(ANN, lambda stored: stored.add(project))


async def test_the_limit_holds_for_projects_that_are_made_at_once_x12(
    documents: Documents,
) -> None:
    projects = Projects(documents)
    await asyncio.gather(*(add(projects, f"p{n}") for n in range(MAX_PROJECTS + 5)))

    assert len((await projects.load(ANN)).projects) == MAX_PROJECTS


async def test_no_chat_stays_in_a_project_that_is_deleted_meanwhile_x12(
    any_documents: Documents,
) -> None:
    projects, sessions = Projects(any_documents), Sessions(any_documents)
    await add(projects, BOAT)
    names = [SessionId(f"c{n}") for n in range(6)]
    for name in names:
        await sessions.add(ANN, build_session(name, app_id=None, now=NOON))

    async def join(name: SessionId) -> None:
        with suppress(NotFound):
            await projects.put_chat(ANN, name, BOAT)

    await asyncio.gather(*map(join, names[:3]), projects.delete(ANN, BOAT), *map(join, names[3:]))

    stored = await sessions.get_many(ANN, names)
    assert [session.project_id for session in stored] == [None] * 6
