"""Context of a turn: the documents that an answer is prepared from, read in two rounds."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace

from functions.chat.consent.allowed_details import Details, load_details
from functions.chat.context import window
from functions.chat.context.budget import compute_budget
from functions.chat.context.earlier_results import (
    NO_RESULTS,
    EarlierResults,
    build_earlier_results,
    select_refs,
)
from functions.chat.context.known import NOTHING_KNOWN, Known
from functions.chat.context.page import PageItem
from functions.chat.context.project_files import ProjectFiles
from functions.chat.context.result_text import load_encoder
from functions.chat.context.similar_chats import (
    MAX_COMPARED,
    SimilarChat,
    list_wanted_tags,
    select_similar,
)
from functions.chat.deps import ChatDeps
from functions.chat.runs.incognito_chats import check_room
from functions.chat.sealed import cached_chats
from functions.chat.sessions.chat_sessions import require_visible_app, resolve_session
from functions.chat.sessions.page_item import find_item
from functions.chat.turn.files import TurnFiles, find_files, load_files, load_project
from functions.chat.turn.find_known import KnownSearch, leave_out_forbidden, look_for_known
from functions.chat.turn.model_choice import expect_role
from functions.chat.turn.question import Question
from shared.data.apps.cached_apps import PinnedApp
from shared.data.search.question_meaning import QuestionMeaning
from shared.domain.account.profile import Profile
from shared.domain.apps.app import App
from shared.domain.apps.connection import Connection
from shared.domain.chats.branches import (
    Path,
    build_path_to,
    build_shown_path,
    get_notes_on,
    omit_foreign_summary,
)
from shared.domain.chats.chat import QUESTION_KEY, Fork, Message, Session
from shared.domain.chats.consent import Consent, Grant, build_tool_key
from shared.domain.chats.custom_agent import CustomAgent
from shared.domain.chats.details_request import list_accepted
from shared.domain.chats.embed import list_ids
from shared.domain.chats.storage_mode import is_private, is_sealed
from shared.domain.errors import Conflict
from shared.domain.files.file import File
from shared.domain.ids import AppId, FileId, UserId
from shared.domain.models.model import ModelFacts
from shared.domain.value import value
from shared.reading.crisis_verdict import DOUBTFUL_DANGER


@value
class TurnContext:
    """The documents that an answer is prepared from; of the newest messages the model reads the `window`.

    `meaning` is what the question is like; None where no encoder runs. It `is_offered` where it equals a suggestion
    that its owner was offered of late.
    """

    profile: Profile
    session: Session
    path: Path
    newest_messages: Sequence[Message]
    window: Sequence[Message]
    connections: Sequence[Connection]
    app: App | None
    offered_apps: Sequence[PinnedApp]
    consent: Consent
    files: TurnFiles
    project: ProjectFiles
    results: EarlierResults
    agent: CustomAgent | None = None
    page_item: PageItem | None = None
    details: Details = field(default_factory=dict)
    similar_chats: Sequence[SimilarChat] = ()
    known: Known = NOTHING_KNOWN
    meaning: QuestionMeaning | None = None
    is_offered: bool = False

    @property
    def persona(self) -> App | None:
        """The app of the chat where it answers by its own prompt and model."""
        return self.app if self.app is not None and self.app.persona_prompt is not None else None

    @property
    def language(self) -> str | None:
        """The language of our own sentences: the owner's choice, else that of the chat; None for English."""
        notes = self.session.notes
        return self.profile.language or (notes.language if notes.noted_until else None)

    @property
    def answering_agent(self) -> CustomAgent | None:
        """The custom agent that answers: none where a persona does."""
        return None if self.persona else self.agent


async def load_context(
    deps: ChatDeps,
    uid: UserId,
    question: Question,
    fork: Fork | None,
    *,
    check: Callable[[], Awaitable[None]],
) -> TurnContext:
    """Read in two rounds; `check` runs beside the first and may refuse the question.

    Another version leaves what is in its chat at `fork`.

    Where both refuse it, the refusal of `check` counts: a repeated question is no new one.
    """
    async with look_for_known(deps, uid, question.text) as looking:
        first = await _read_first_round(deps, uid, question, fork, check)
        return await _read_second_round(deps, uid, question, first, looking)


async def _read_second_round(
    deps: ChatDeps, uid: UserId, question: Question, first: "_FirstRound", looking: KnownSearch
) -> TurnContext:
    """Read what the first documents name."""
    session, newest_messages = first.session, first.newest_messages
    read_messages = window.select_window(newest_messages, session, _measure_room(deps, question))
    earlier_files = _list_files_before(read_messages, newest_messages, session)
    (
        (app, offered_apps),
        agent,
        files,
        project,
        (details, results, similar_chats, (known, meaning)),
    ) = await gather(
        _load_apps(deps, uid, session.app_id, first.installed_ids),
        _load_agent(deps, uid, session),
        load_files(
            deps,
            uid,
            first.files_of_question,
            read_messages,
            earlier_files,
            max_tokens=compute_budget(_describe_reader(deps, question).window_tokens, ()),
        ),
        load_project(deps, uid, session.project_id),
        gather(
            load_details(deps.stores.memories, uid, first.profile, list_accepted(session.requests)),
            _load_results(deps, uid, read_messages),
            _find_similar(deps, uid, question, session, first.profile),
            gather(
                looking.find(first.profile, _list_asked_before(newest_messages)), looking.read()
            ),
        ),
    )
    is_doubted = (
        meaning is not None and meaning.danger >= DOUBTFUL_DANGER
    )  # somebody in need is answered for what they say
    return TurnContext(
        profile=_speak_for_client(first.profile, question.client_language),
        session=session,
        path=first.path,
        newest_messages=newest_messages,
        window=read_messages,
        connections=first.connections,
        app=app,
        offered_apps=offered_apps,
        consent=await _pin_unpinned(deps, uid, offered_apps, first.consent),
        agent=agent,
        page_item=first.page_item,
        files=files,
        project=project,
        details=details,
        results=results,
        similar_chats=similar_chats,
        known=NOTHING_KNOWN if is_doubted else leave_out_forbidden(known, agent),
        meaning=meaning,
        is_offered=first.is_offered,
    )


@value
class _FirstRound:
    """The documents that name those of the second round."""

    profile: Profile
    session: Session
    path: Path
    newest_messages: Sequence[Message]
    installed_ids: Sequence[AppId]
    connections: Sequence[Connection]
    consent: Consent
    page_item: PageItem | None
    files_of_question: Sequence[File]
    is_offered: bool


async def _read_first_round(
    deps: ChatDeps,
    uid: UserId,
    question: Question,
    fork: Fork | None,
    check: Callable[[], Awaitable[None]],
) -> _FirstRound:
    """Read all that the question itself names. A refusal of `check` comes before others."""
    reads = gather(
        deps.stores.profiles.get(uid),
        _load_history(deps, uid, question, fork),
        deps.stores.installed_apps.list_all(uid),
        gather(
            deps.stores.connections.list_all(uid),
            deps.stores.grants.load(uid),
            find_item(deps.stores, uid, question.page),
            find_files(deps, uid, question.file_ids, may_be_gone=question.version is not None),
            deps.stores.offered_suggestions.has(uid, question.text, deps.clock.now()),
        ),
    )
    refusal, _ = await gather(check(), reads, return_exceptions=True)
    if isinstance(refusal, BaseException):
        raise refusal
    profile, history_read, installed_apps, named = await reads
    connections, consent, page_item, files, is_offered = named
    session, path, newest_messages = history_read
    return _FirstRound(
        profile=profile,
        session=session,
        path=path,
        newest_messages=newest_messages,
        installed_ids=[installation.app_id for installation in installed_apps],
        connections=connections,
        consent=consent,
        page_item=page_item,
        files_of_question=files,
        is_offered=is_offered,
    )


def _measure_room(deps: ChatDeps, question: Question) -> window.HistoryRoom:
    """Return what the model that is expected to answer can read of the chat."""
    return window.compute_room(_describe_reader(deps, question).window_tokens)


def _describe_reader(deps: ChatDeps, question: Question) -> ModelFacts:
    """Describe the model that is expected to answer."""
    return deps.model.describe(expect_role(question.models))


def _speak_for_client(profile: Profile, client_language: str | None) -> Profile:
    """Let the client's language hold where the owner chose none."""
    return profile if profile.language else replace(profile, language=client_language)


async def _resolve(deps: ChatDeps, uid: UserId, question: Question) -> Session:
    """Return the chat of a question.

    Raises NotFound, Conflict for one that holds no more, and HistoryMissing for a sealed one that is not cached.
    """
    if is_sealed(question.chat_id) and question.app_id is None:
        return await cached_chats.find_cached(deps, uid, question.chat_id)
    session = await resolve_session(deps, uid, question.app_id, question.chat_id)
    check_room(session)
    return session


async def _load_history(
    deps: ChatDeps, uid: UserId, question: Question, fork: Fork | None
) -> tuple[Session, Path, Sequence[Message]]:
    """Read a chat and its newest messages before the question, those of one path alone.

    A chat without versions costs one round. Raises NotFound and Conflict.
    """
    messages, limit = deps.stores.messages, _measure_room(deps, question).messages
    session, newest = await gather(
        _resolve(deps, uid, question),
        messages.list_newest(uid, question.chat_id, limit=limit),
    )
    cached_chats.require_complete(session, newest, limit=limit)
    path = build_shown_path(session.forks)
    if fork is not None:
        path = build_path_to([*session.forks, fork], fork.id)
    if session.forks or fork is not None:
        newest = await messages.list_newest(
            uid,
            question.chat_id,
            limit=limit,
            before=fork.question if fork else None,
            path=path,
        )
    if question.follows is not None and question.follows not in {message.id for message in newest}:
        raise Conflict("This chat was changed in another window. Please look at it and ask again.")
    session = replace(session, notes=get_notes_on(session, path))
    return omit_foreign_summary(session, path), path, newest


async def _load_apps(
    deps: ChatDeps, uid: UserId, chat_app_id: AppId | None, installed_ids: Sequence[AppId]
) -> tuple[App | None, list[PinnedApp]]:
    """Return the app that a chat belongs to, uncached, and the installed apps, in one round."""
    chat_apps, offered_apps = await gather(
        deps.stores.apps.get_many([chat_app_id] if chat_app_id else []),
        deps.offered_apps.get_many(installed_ids),
    )
    return (
        None if chat_app_id is None else require_visible_app(next(iter(chat_apps), None), uid)
    ), offered_apps


async def _load_results(deps: ChatDeps, uid: UserId, messages: Sequence[Message]) -> EarlierResults:
    """Read what the tools of earlier answers returned."""
    refs = select_refs(messages)
    if not refs:
        return NO_RESULTS
    find = deps.stores.embeds.find_all(uid, list_ids(refs))
    embeds, _ = await gather(find, load_encoder())
    return build_earlier_results(refs, embeds)


def _list_asked_before(newest_first: Sequence[Message]) -> list[str]:
    """Return what a question may follow: a yes to a question of ours follows nothing."""
    is_asked = bool(newest_first) and QUESTION_KEY in newest_first[0].metadata
    return [] if is_asked else window.list_owner_texts(newest_first)


def _list_files_before(
    read: Sequence[Message], newest_first: Sequence[Message], session: Session
) -> list[FileId]:
    """Return the files of messages that the model does not read, the latest last."""
    first = read[0].position if read else None
    unread = [each for each in reversed(newest_first) if first is None or each.position < first]
    return [*session.summarised_files, *(file.id for message in unread for file in message.files)]


async def _load_agent(deps: ChatDeps, uid: UserId, session: Session) -> CustomAgent | None:
    """Return the agent of a chat; None without one, or where it was deleted."""
    if session.agent_id is None:
        return None
    return await deps.stores.custom_agents.find(uid, session.agent_id)


async def _find_similar(
    deps: ChatDeps, uid: UserId, question: Question, session: Session, profile: Profile
) -> Sequence[SimilarChat]:
    """Return the chats most like this question in its chat, unless their owner wants none.

    Those of a sealed chat its client knows, and those of an incognito one nobody.
    """
    if not (profile.recalls_chats and profile.recalls_memories):
        return ()
    if is_private(session.id):
        return question.similar_chats if is_sealed(session.id) else ()
    wanted = list_wanted_tags(question.text, session)
    if not wanted:
        return ()
    tagged = await deps.stores.sessions.list_tagged(uid, wanted, limit=MAX_COMPARED)
    known = [chat for chat in tagged if not _is_forgotten(chat, profile)]
    return select_similar(wanted, session, known)


def _is_forgotten(chat: Session, profile: Profile) -> bool:
    """Tell whether a summary may tell of what its owner wanted forgotten since."""
    noted = chat.notes.noted_until
    return noted is not None and profile.has_forgotten(noted[0])


async def _pin_unpinned(
    deps: ChatDeps, uid: UserId, apps: Sequence[PinnedApp], consent: Consent
) -> Consent:
    """Pin the tools of apps that were installed before there were pins, as they are now."""
    grants = {
        pinned.app.source.key: {
            build_tool_key(name): Grant(pin=pin) for name, pin in pinned.pins.items()
        }
        for pinned in apps
        if not consent.knows_source(pinned.app.source)
    }
    return await deps.stores.grants.add_missing(uid, grants) if grants else consent
