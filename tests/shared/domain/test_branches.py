"""Branches of a chat: one tree, whatever is edited, asked again and shown (U7)."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.chats.branches import (
    add_fork,
    build_edit,
    build_path_to,
    build_retry,
    build_shown_path,
    list_versions,
    show_position,
)
from shared.domain.chats.chat import MAIN_SESSION, ROOT, Fork, Message
from shared.domain.chats.run import build_question_id
from shared.domain.ids import BranchId, MessageId, RunId

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
ACTIONS = st.sampled_from(["ask", "edit", "retry", "show"])


@dataclass
class Node:
    """A message as people see it: what follows it are versions of the next message."""

    message: Message
    parent: "Node | None"
    versions: list["Node"] = field(default_factory=list)
    chosen: int = -1

    def add(self, message: Message) -> "Node":
        self.versions.append(Node(message, self))
        self.chosen = len(self.versions) - 1
        return self.versions[-1]

    def show(self) -> None:
        if self.parent is not None:
            self.parent.chosen = self.parent.versions.index(self)
            self.parent.show()

    def list_shown(self) -> list["Node"]:
        if not self.versions:
            return [self]
        return [self, *self.versions[self.chosen].list_shown()]


class Chat:
    """The chat under test beside a tree of nodes."""

    def __init__(self) -> None:
        self.forks: tuple[Fork, ...] = ()
        greeting = self._build("greeting", "ai", ROOT)
        self.root = Node(greeting, None)
        self.nodes = [self.root]

    def ask(self) -> None:
        branch = build_shown_path(self.forks).tip
        run_id = RunId(f"r{len(self.nodes):03}")
        question = self._build(build_question_id(run_id), "human", branch)
        self._answer(self._add(self.root.list_shown()[-1], question), run_id, branch)

    def edit(self, node: Node) -> None:
        assert node.parent is not None
        run_id = RunId(f"r{len(self.nodes):03}")
        branch, head = BranchId(run_id), build_question_id(run_id)
        self.forks = add_fork(self.forks, build_edit(self.forks, node.message, branch, head))
        node.parent.show()
        self._answer(self._add(node.parent, self._build(head, "human", branch)), run_id, branch)

    def retry(self, node: Node) -> None:
        assert node.parent is not None
        run_id = RunId(f"r{len(self.nodes):03}")
        branch, head = BranchId(run_id), MessageId(run_id)
        fork = build_retry(self.forks, node.message, node.parent.message, branch, head)
        self.forks = add_fork(self.forks, fork)
        node.parent.show()
        self._answer(node.parent, run_id, branch)

    def show(self, node: Node) -> None:
        self.forks = show_position(self.forks, node.message.branch, node.message.position)
        node.show()

    def _answer(self, question: Node, run_id: RunId, branch: BranchId) -> None:
        self._add(question, self._build(run_id, "ai", branch))

    def _add(self, parent: Node, message: Message) -> Node:
        self.nodes.append(parent.add(message))
        return self.nodes[-1]

    def _build(self, name: str, sender: str, branch: BranchId) -> Message:
        at = START + timedelta(seconds=len(getattr(self, "nodes", ())))
        return Message(
            id=MessageId(name),
            session_id=MAIN_SESSION,
            text=name,
            sender=sender,  # type: ignore[arg-type]
            created_at=at,
            branch=branch,
        )


def play(actions: list[tuple[str, int]]) -> Chat:
    chat = Chat()
    for action, number in actions:
        senders = {"edit": ("human",), "retry": ("ai",), "show": ("ai", "human")}
        targets = [
            node
            for node in chat.nodes
            if action == "show" or (node.parent and node.message.sender in senders.get(action, ()))
        ]
        if targets:
            getattr(chat, action)(targets[number % len(targets)])
        else:
            chat.ask()
    return chat


ANY_ACTIONS = st.lists(st.tuples(ACTIONS, st.integers(0, 50)), max_size=25)


@given(ANY_ACTIONS)
def test_any_order_of_edits_and_repeats_keeps_one_tree_u7(actions: list[tuple[str, int]]) -> None:
    chat = play(actions)

    path = build_shown_path(chat.forks)
    messages = [node.message for node in chat.nodes]
    shown = [node.message.id for node in chat.root.list_shown()]
    assert [message.id for message in messages if path.includes(message)] == shown
    versions = list_versions(chat.forks)
    for node in chat.nodes:
        siblings = (
            [n.message.id for n in node.parent.versions] if node.parent else [node.message.id]
        )
        assert list(versions.get(node.message.id, [node.message.id])) == siblings


@given(ANY_ACTIONS)
def test_the_path_to_a_message_is_its_ancestors(actions: list[tuple[str, int]]) -> None:
    chat = play(actions)

    messages = [node.message for node in chat.nodes]
    for node in chat.nodes:
        path, ancestors = build_path_to(chat.forks, node.message.branch), []
        above: Node | None = node
        while above is not None:
            ancestors.append(above.message.id)
            above = above.parent
        until = node.message.position
        on_path = [m.id for m in messages if path.includes(m) and m.position <= until]
        assert on_path == ancestors[::-1]
        assert path.find_branch(until) == node.message.branch


def test_a_fork_that_is_added_again_changes_nothing() -> None:
    chat = play([("ask", 0), ("edit", 0)])
    chat.show(chat.nodes[1])

    assert add_fork(chat.forks, chat.forks[0]) == chat.forks
