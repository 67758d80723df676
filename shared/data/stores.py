"""Stores: every kind of stored document, each reached by its name.

A store is made, and its module imported, when it is first used: a function loads only its own. Stores
that need more than documents (tokens, search, caches) are not here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from shared.ports import Documents

if TYPE_CHECKING:
    from shared.data.accounts import Accounts
    from shared.data.action_items import ActionItems
    from shared.data.app_calls import AppCalls
    from shared.data.apps import Apps, InstalledApps
    from shared.data.call_log import CallLog
    from shared.data.confirmations import Confirmations
    from shared.data.connections import Connections
    from shared.data.conversations import Conversations
    from shared.data.dead_letters import DeadLetters
    from shared.data.disclosure_ledger import DisclosureLedger
    from shared.data.grants import Grants
    from shared.data.hourly_limits import HourlyLimits
    from shared.data.inbox import Digests, Inbox
    from shared.data.library_changes import LibraryChanges
    from shared.data.mcp_keys import McpKeys
    from shared.data.memories import Memories
    from shared.data.messages import Messages
    from shared.data.operations import Operations
    from shared.data.people import People
    from shared.data.profiles import Devices, Profiles
    from shared.data.runs import Runs
    from shared.data.sessions import Sessions
    from shared.data.turn_slots import TurnSlots

_MODULES = {
    "devices": "profiles",
    "installed_apps": "apps",
    "digests": "inbox",
}
"""The modules of stores that are not named like their module."""


class Stores:
    """The stores over one `documents`."""

    accounts: "Accounts"
    profiles: "Profiles"
    devices: "Devices"
    conversations: "Conversations"
    memories: "Memories"
    action_items: "ActionItems"
    people: "People"
    messages: "Messages"
    library_changes: "LibraryChanges"
    sessions: "Sessions"
    runs: "Runs"
    turn_slots: "TurnSlots"
    confirmations: "Confirmations"
    grants: "Grants"
    disclosure_ledger: "DisclosureLedger"
    apps: "Apps"
    installed_apps: "InstalledApps"
    app_calls: "AppCalls"
    call_log: "CallLog"
    connections: "Connections"
    mcp_keys: "McpKeys"
    inbox: "Inbox"
    digests: "Digests"
    hourly_limits: "HourlyLimits"
    operations: "Operations"
    dead_letters: "DeadLetters"

    def __init__(self, documents: Documents) -> None:
        self.documents = documents

    if not TYPE_CHECKING:  # type checkers shall still find a misspelled store

        def __getattr__(self, name):
            """Make the store annotated under this name; it is asked for only once."""
            if name not in Stores.__annotations__:
                raise AttributeError(name)
            module = import_module(f"shared.data.{_MODULES.get(name, name)}")
            store = getattr(module, Stores.__annotations__[name])(self.documents)
            setattr(self, name, store)
            return store
