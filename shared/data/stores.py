"""Stores: every kind of stored document, each reached by its name.

A store is made, and its module imported, when it is first used: a function loads only its own. Stores
that need more than documents (tokens, search, caches) are not here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.data.accounts import Accounts
    from shared.data.action_items import ActionItems
    from shared.data.alternatives import Alternatives
    from shared.data.api_keys import DeveloperKeys, McpKeys
    from shared.data.app_calls import AppCalls
    from shared.data.app_logos import AppLogos
    from shared.data.app_reviews import AppReviews
    from shared.data.apps import Apps, InstalledApps
    from shared.data.arcs import Arcs
    from shared.data.call_log import CallLog
    from shared.data.confirmations import Confirmations
    from shared.data.connections import Connections
    from shared.data.conversation_items import ConversationItems
    from shared.data.conversation_lists import ConversationLists
    from shared.data.conversations import Conversations
    from shared.data.custom_agents import CustomAgents
    from shared.data.daily_summaries import DailySummaries
    from shared.data.dead_letters import DeadLetters
    from shared.data.developer_webhooks import DeveloperWebhookStore
    from shared.data.disclosure_ledger import DisclosureLedger
    from shared.data.embeds import Embeds
    from shared.data.feedback import FeedbackStore
    from shared.data.figures import Figures
    from shared.data.file_imports import FileImports
    from shared.data.files import Files
    from shared.data.folders import Folders
    from shared.data.goals import Goals
    from shared.data.grants import Grants
    from shared.data.health import Health
    from shared.data.history_requests import HistoryRequests
    from shared.data.hourly_limits import HourlyLimits
    from shared.data.inbox import Digests, Inbox
    from shared.data.library_changes import LibraryChanges
    from shared.data.mcp_sessions import McpSessions
    from shared.data.memories import Memories
    from shared.data.merges import Merges
    from shared.data.messages import Messages
    from shared.data.model_refusals import ModelRefusals
    from shared.data.operations import Operations
    from shared.data.people import People
    from shared.data.profiles import Devices, Profiles
    from shared.data.projects import Projects
    from shared.data.recordings import Recordings
    from shared.data.runs import Runs
    from shared.data.safety_reviews import SafetyReviews
    from shared.data.sealed_cache import SealedCache
    from shared.data.sealed_chats import SealedChats
    from shared.data.sessions import Sessions
    from shared.data.shared_chats import SharedChats
    from shared.data.shared_conversations import SharedConversations
    from shared.data.summary_ratings import SummaryRatings
    from shared.data.sync_cache import SyncCache
    from shared.data.task_integrations import TaskIntegrations
    from shared.data.task_shares import TaskShares
    from shared.data.transcript_edits import TranscriptEdits
    from shared.data.turn_slots import TurnSlots
    from shared.data.uploads import Uploads
    from shared.data.voice_sessions import VoiceSessions
    from shared.data.webhook_deliveries import WebhookDeliveries
    from shared.ports import Documents

_MODULES = {
    "devices": "profiles",
    "installed_apps": "apps",
    "digests": "inbox",
    "mcp_keys": "api_keys",
    "developer_keys": "api_keys",
}
"""The modules of stores that are not named like their module."""


class Stores:
    """The stores over one `documents`."""

    accounts: "Accounts"
    arcs: "Arcs"
    profiles: "Profiles"
    projects: "Projects"
    devices: "Devices"
    conversations: "Conversations"
    conversation_lists: "ConversationLists"
    conversation_items: "ConversationItems"
    shared_conversations: "SharedConversations"
    transcript_edits: "TranscriptEdits"
    merges: "Merges"
    feedback: "FeedbackStore"
    figures: "Figures"
    file_imports: "FileImports"
    memories: "Memories"
    action_items: "ActionItems"
    folders: "Folders"
    task_shares: "TaskShares"
    task_integrations: "TaskIntegrations"
    uploads: "Uploads"
    recordings: "Recordings"
    files: "Files"
    people: "People"
    goals: "Goals"
    summary_ratings: "SummaryRatings"
    messages: "Messages"
    alternatives: "Alternatives"
    library_changes: "LibraryChanges"
    sessions: "Sessions"
    sealed_chats: "SealedChats"
    sealed_cache: "SealedCache"
    sync_cache: "SyncCache"
    history_requests: "HistoryRequests"
    safety_reviews: "SafetyReviews"
    shared_chats: "SharedChats"
    custom_agents: "CustomAgents"
    runs: "Runs"
    turn_slots: "TurnSlots"
    voice_sessions: "VoiceSessions"
    confirmations: "Confirmations"
    grants: "Grants"
    disclosure_ledger: "DisclosureLedger"
    embeds: "Embeds"
    apps: "Apps"
    installed_apps: "InstalledApps"
    app_calls: "AppCalls"
    app_logos: "AppLogos"
    app_reviews: "AppReviews"
    call_log: "CallLog"
    model_refusals: "ModelRefusals"
    connections: "Connections"
    developer_webhooks: "DeveloperWebhookStore"
    webhook_deliveries: "WebhookDeliveries"
    mcp_keys: "McpKeys"
    developer_keys: "DeveloperKeys"
    mcp_sessions: "McpSessions"
    inbox: "Inbox"
    digests: "Digests"
    health: "Health"
    hourly_limits: "HourlyLimits"
    operations: "Operations"
    daily_summaries: "DailySummaries"
    dead_letters: "DeadLetters"

    def __init__(self, documents: "Documents") -> None:
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
