"""Branches of a chat: which messages are shown, and which versions a message has.

A chat is a tree whose branches begin at forks. Nothing in it moves: showing another version changes
which forks are taken on the way from the first message.

Also called: message tree, conversation tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from shared.domain.chats.chat import ROOT, Fork, Message, Position, Session
from shared.domain.chats.chat_notes import ChatNotes
from shared.domain.chats.run import get_answering_run_id
from shared.domain.ids import BranchId, MessageId, RunId
from shared.domain.value import value

Forks = Sequence[Fork]


@value
class Path:
    """The way from a chat's first message to the last one of the branch `tip`.

    `exits` are the forks at which it leaves a branch, by that branch. `known` are all branches; what
    belongs to none of them counts as the root's.
    """

    tip: BranchId
    exits: Mapping[BranchId, Fork]
    known: frozenset[BranchId]

    def includes(self, message: Message) -> bool:
        return message.from_integration or self.passes(message.branch, message.position)

    def passes(self, branch: BranchId, position: Position) -> bool:
        """Tell whether it leads over this position of a branch."""
        branch = branch if branch in self.known else ROOT
        if branch in self.exits:
            return _keeps(self.exits[branch], position)
        return branch == self.tip

    def find_branch(self, position: Position) -> BranchId:
        """Return the branch in which it passes a position."""
        branch = ROOT
        while (fork := self.exits.get(branch)) and not _keeps(fork, position):
            branch = fork.id
        return branch


def build_shown_path(forks: Forks) -> Path:
    """Return the path that takes every shown fork that it meets."""
    branch, exits = ROOT, dict[BranchId, Fork]()
    while fork := _find_first_shown(forks, branch):
        exits[branch] = fork
        branch = fork.id
    return Path(tip=branch, exits=exits, known=_list_ids(forks))


def build_path_to(forks: Forks, branch: BranchId) -> Path:
    """Return the path to the end of a branch, whatever is shown."""
    exits = {fork.parent: fork for fork in _climb(forks, branch)}
    return Path(tip=branch, exits=exits, known=_list_ids(forks))


def show_position(forks: Forks, branch: BranchId, position: Position) -> tuple[Fork, ...]:
    """Choose versions so that the message at a position of a branch is shown.

    Choices that do not hide it stay as they are.
    """
    exits = {fork.parent: fork for fork in _climb(forks, branch)}

    def choose(fork: Fork) -> bool:
        taken = exits.get(fork.parent)
        if taken is not None:
            is_on_the_way = _get_point(fork) <= _get_point(taken)
            return fork.id == taken.id if is_on_the_way else fork.is_shown
        is_hiding = fork.parent == branch and not _keeps(fork, position)
        return fork.is_shown and not is_hiding

    return tuple(replace(fork, is_shown=choose(fork)) for fork in forks)


def add_fork(forks: Forks, fork: Fork) -> tuple[Fork, ...]:
    """Add a fork, unless it is there, and show its branch."""
    if fork.id in _list_ids(forks):
        return tuple(forks)
    return show_position([*forks, fork], fork.id, fork.question)


def build_edit(forks: Forks, question: Message, branch: BranchId, head: MessageId) -> Fork:
    """Return the fork of another version of a question."""
    sibling = _find_by_head(forks, question.id)
    return Fork(
        id=branch,
        parent=sibling.parent if sibling else question.branch,
        question=sibling.question if sibling else question.position,
        keeps_question=False,
        original=sibling.original if sibling else question.id,
        head=head,
    )


def build_retry(
    forks: Forks, answer: Message, question: Message, branch: BranchId, head: MessageId
) -> Fork:
    """Return the fork of another answer to the question of `answer`."""
    sibling = _find_by_head(forks, answer.id)
    return Fork(
        id=branch,
        parent=sibling.parent if sibling else answer.branch,
        question=question.position,
        keeps_question=True,
        original=sibling.original if sibling else answer.id,
        head=head,
    )


def find_retried_question(forks: Forks, answer_id: MessageId) -> MessageId | None:
    """Return the question that a repeated answer belongs to; None for an answer to its own."""
    fork = _find_by_head(forks, answer_id)
    return fork.question[1] if fork is not None and fork.keeps_question else None


def list_versions(forks: Forks) -> Mapping[MessageId, Sequence[MessageId]]:
    """Return, for each message that has several versions, all of them, oldest first."""
    versions: dict[MessageId, list[MessageId]] = {}
    for _, group in groupby(sorted(forks, key=_get_group), key=_get_group):
        members = list(group)
        ids = [members[0].original, *(fork.head for fork in members)]
        versions |= dict.fromkeys(ids, ids)
    return versions


def find_answering_run(session: Session, newest: Message) -> RunId | None:
    """Return the run that answers a chat's newest shown message; None for what is no question."""
    tip = build_shown_path(session.forks).tip
    for fork in session.forks:
        if fork.id == tip and fork.keeps_question and fork.question == newest.position:
            return RunId(fork.id)
    return get_answering_run_id(newest)


def omit_foreign_summary(session: Session, path: Path) -> Session:
    """Return a session without a summary that covers messages beside the path."""
    until = session.summarised_until
    if until is None or path.passes(session.summarised_branch, until):
        return session
    return session.without_summary()


def get_notes_on(session: Session, path: Path) -> ChatNotes:
    """Return the notes of a chat; icons alone where they cover messages beside the path."""
    notes = session.notes
    if notes.noted_until is None or path.passes(notes.noted_branch, notes.noted_until):
        return notes
    return ChatNotes(icons=notes.icons)


def _keeps(fork: Fork, position: Position) -> bool:
    """Tell whether a position of the parent is before the fork."""
    return position < fork.question or (fork.keeps_question and position == fork.question)


def _get_point(fork: Fork) -> tuple[Position, bool]:
    """Order the forks of a branch: a question is left before its answer."""
    return fork.question, fork.keeps_question


def _get_group(fork: Fork) -> tuple[BranchId, MessageId]:
    return fork.parent, fork.original


def _list_ids(forks: Forks) -> frozenset[BranchId]:
    return frozenset(fork.id for fork in forks)


def _find_first_shown(forks: Forks, branch: BranchId) -> Fork | None:
    shown = (fork for fork in forks if fork.parent == branch and fork.is_shown)
    return min(shown, key=_get_point, default=None)


def _find_by_head(forks: Forks, head: MessageId) -> Fork | None:
    return next((fork for fork in forks if fork.head == head), None)


def _climb(forks: Forks, branch: BranchId) -> Iterator[Fork]:
    """Yield the forks from a branch to the root."""
    by_id = {fork.id: fork for fork in forks}
    while fork := by_id.get(branch):
        yield fork
        branch = fork.parent
