"""Summary apps: which of them suit a conversation, and which one writes its summary; without a model call."""

from collections.abc import Sequence

from shared.data.stores import Stores
from shared.domain.apps.app import App
from shared.domain.conversations.conversation import Conversation, Structured, Topics
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_SUGGESTED = 5
MAX_COMPARED_CHARS = 4_000


@value
class SummaryApps:
    """The app that writes, None where no app does, and the installed ones that suit, the best first."""

    writer: App | None = None
    suggested_ids: tuple[AppId, ...] = ()


async def choose_summary_apps(
    stores: Stores,
    uid: UserId,
    conversation: Conversation,
    content: tuple[Structured, Topics],
    preferred_id: AppId | None,
) -> SummaryApps:
    """Choose who writes: the app asked for with this conversation, the preferred, or the best installed.

    An app that its user may no longer see, or that was switched off, writes nothing.
    """
    installed_ids = [entry.app_id for entry in await stores.installed_apps.list_all(uid)]
    wished_ids = [name for name in (conversation.summary_app, preferred_id) if name]
    ids = list(dict.fromkeys([*wished_ids, *installed_ids]))
    apps = await stores.apps.get_many(ids) if ids else []
    by_id = {app.id: app for app in apps if app.writes_summaries and app.is_visible_to(uid)}
    installed_apps = [by_id[name] for name in installed_ids if name in by_id]
    ranked_apps = rank_apps(installed_apps, *content)
    wished_apps = [by_id[name] for name in wished_ids if name in by_id]
    return SummaryApps(
        writer=next(iter([*wished_apps, *ranked_apps]), None),
        suggested_ids=tuple(app.id for app in ranked_apps[:MAX_SUGGESTED]),
    )


def rank_apps(apps: Sequence[App], structured: Structured, topics: Topics) -> list[App]:
    """Order by the words that an app shares with a conversation, rare ones first, then by its users."""
    terms = set(
        tokenize(
            " ".join([structured.category, structured.title, structured.overview, *topics.topics])
        )
    )

    def weigh(app: App) -> tuple[float, int, str]:
        text = f"{app.name} {app.category} {app.description} {app.memory_prompt}"
        shared_terms = terms.intersection(tokenize(text[:MAX_COMPARED_CHARS]))
        return -sum(map(get_term_weight, shared_terms)), -app.installs, app.id

    return sorted(apps, key=weigh)
