"""Stores: every kind of stored document, each reached by its name.

A store is made, and its module imported, when it is first used: a function loads only its own. Stores
that need more than documents (tokens, search, caches) are not here.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from shared.ports import Documents

if TYPE_CHECKING:
    from shared.data.accounts import Accounts, Erasures
    from shared.data.action_items import ActionItems
    from shared.data.app_calls import AppCalls
    from shared.data.apps import Apps, InstalledApps
    from shared.data.call_log import CallLog
    from shared.data.confirmations import Confirmations
    from shared.data.connections import Connections
    from shared.data.conversations import Conversations
    from shared.data.dead_letters import DeadLetters
    from shared.data.hourly_limits import HourlyLimits
    from shared.data.inbox import Digests, Inbox
    from shared.data.mcp_keys import McpKeys
    from shared.data.memories import Memories
    from shared.data.messages import Messages
    from shared.data.operations import Operations
    from shared.data.people import People
    from shared.data.profiles import Devices, Profiles
    from shared.data.runs import Runs
    from shared.data.sessions import Sessions


class Stores:
    """The stores over one `documents`."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents

    @cached_property
    def accounts(self) -> "Accounts":
        from shared.data.accounts import Accounts

        return Accounts(self.documents)

    @cached_property
    def erasures(self) -> "Erasures":
        from shared.data.accounts import Erasures

        return Erasures(self.documents)

    @cached_property
    def profiles(self) -> "Profiles":
        from shared.data.profiles import Profiles

        return Profiles(self.documents)

    @cached_property
    def devices(self) -> "Devices":
        from shared.data.profiles import Devices

        return Devices(self.documents)

    @cached_property
    def conversations(self) -> "Conversations":
        from shared.data.conversations import Conversations

        return Conversations(self.documents)

    @cached_property
    def memories(self) -> "Memories":
        from shared.data.memories import Memories

        return Memories(self.documents)

    @cached_property
    def action_items(self) -> "ActionItems":
        from shared.data.action_items import ActionItems

        return ActionItems(self.documents)

    @cached_property
    def people(self) -> "People":
        from shared.data.people import People

        return People(self.documents)

    @cached_property
    def messages(self) -> "Messages":
        from shared.data.messages import Messages

        return Messages(self.documents)

    @cached_property
    def sessions(self) -> "Sessions":
        from shared.data.sessions import Sessions

        return Sessions(self.documents)

    @cached_property
    def runs(self) -> "Runs":
        from shared.data.runs import Runs

        return Runs(self.documents)

    @cached_property
    def confirmations(self) -> "Confirmations":
        from shared.data.confirmations import Confirmations

        return Confirmations(self.documents)

    @cached_property
    def apps(self) -> "Apps":
        from shared.data.apps import Apps

        return Apps(self.documents)

    @cached_property
    def installed_apps(self) -> "InstalledApps":
        from shared.data.apps import InstalledApps

        return InstalledApps(self.documents)

    @cached_property
    def app_calls(self) -> "AppCalls":
        from shared.data.app_calls import AppCalls

        return AppCalls(self.documents)

    @cached_property
    def call_log(self) -> "CallLog":
        from shared.data.call_log import CallLog

        return CallLog(self.documents)

    @cached_property
    def connections(self) -> "Connections":
        from shared.data.connections import Connections

        return Connections(self.documents)

    @cached_property
    def mcp_keys(self) -> "McpKeys":
        from shared.data.mcp_keys import McpKeys

        return McpKeys(self.documents)

    @cached_property
    def inbox(self) -> "Inbox":
        from shared.data.inbox import Inbox

        return Inbox(self.documents)

    @cached_property
    def digests(self) -> "Digests":
        from shared.data.inbox import Digests

        return Digests(self.documents)

    @cached_property
    def hourly_limits(self) -> "HourlyLimits":
        from shared.data.hourly_limits import HourlyLimits

        return HourlyLimits(self.documents)

    @cached_property
    def operations(self) -> "Operations":
        from shared.data.operations import Operations

        return Operations(self.documents)

    @cached_property
    def dead_letters(self) -> "DeadLetters":
        from shared.data.dead_letters import DeadLetters

        return DeadLetters(self.documents)
