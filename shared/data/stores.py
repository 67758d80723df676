"""Stores: every kind of stored document, each reached by its name.

A store is made, and its module imported, when it is first used: a function loads only its own. Stores
that need more than documents (tokens, search, caches) are not here.

Also called: repository pattern, repositories, data access layer, DAO.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.data.account.accounts import Accounts
    from shared.data.account.api_keys import DeveloperKeys, McpKeys
    from shared.data.account.bin_entries import BinEntries
    from shared.data.account.connected_programs import ConnectedPrograms
    from shared.data.account.figures import Figures
    from shared.data.account.health import Health
    from shared.data.account.inbox import Digests, Inbox
    from shared.data.account.library_changes import LibraryChanges
    from shared.data.account.profiles import Devices, Profiles
    from shared.data.account.sign_outs import SignOuts
    from shared.data.account.speech_profiles import SpeechProfiles
    from shared.data.apps.app_calls import AppCalls
    from shared.data.apps.app_logos import AppLogos
    from shared.data.apps.app_reviews import AppReviews
    from shared.data.apps.apps import Apps, InstalledApps
    from shared.data.apps.call_log import CallLog
    from shared.data.apps.connections import Connections
    from shared.data.apps.developer_webhooks import DeveloperWebhookStore
    from shared.data.apps.live_listeners import LiveListeners
    from shared.data.apps.mcp_sessions import McpSessions
    from shared.data.apps.model_refusals import ModelRefusals
    from shared.data.apps.webhook_deliveries import WebhookDeliveries
    from shared.data.chats.alternatives import Alternatives
    from shared.data.chats.arcs import Arcs
    from shared.data.chats.confirmations import Confirmations
    from shared.data.chats.custom_agents import CustomAgents
    from shared.data.chats.disclosure_ledger import DisclosureLedger
    from shared.data.chats.embeds import Embeds
    from shared.data.chats.feedback import FeedbackStore
    from shared.data.chats.grants import Grants
    from shared.data.chats.history_requests import HistoryRequests
    from shared.data.chats.messages import Messages
    from shared.data.chats.offered_suggestions import OfferedSuggestions
    from shared.data.chats.pairings import Pairings
    from shared.data.chats.projects import Projects
    from shared.data.chats.runs import Runs
    from shared.data.chats.safety_reviews import SafetyReviews
    from shared.data.chats.sealed_cache import SealedCache
    from shared.data.chats.sealed_chats import SealedChats
    from shared.data.chats.sessions import Sessions
    from shared.data.chats.shared_chats import SharedChats
    from shared.data.chats.sync_cache import SyncCache
    from shared.data.chats.turn_slots import TurnSlots
    from shared.data.chats.voice_sessions import VoiceSessions
    from shared.data.conversations.conversation_lists import ConversationLists
    from shared.data.conversations.conversations import Conversations
    from shared.data.conversations.daily_summaries import DailySummaries
    from shared.data.conversations.folders import Folders
    from shared.data.conversations.live_conversations import LiveConversations
    from shared.data.conversations.merges import Merges
    from shared.data.conversations.recordings import Recordings
    from shared.data.conversations.shared_conversations import SharedConversations
    from shared.data.conversations.summary_ratings import SummaryRatings
    from shared.data.conversations.sync_jobs import SyncJobs
    from shared.data.conversations.transcript_edits import TranscriptEdits
    from shared.data.files.file_imports import FileImports
    from shared.data.files.files import Files
    from shared.data.files.uploads import Uploads
    from shared.data.memories.memories import Memories
    from shared.data.people.people import People
    from shared.data.people.renewals import Renewals
    from shared.data.store.dead_letters import DeadLetters
    from shared.data.store.hourly_limits import HourlyLimits
    from shared.data.store.operations import Operations
    from shared.data.tasks.action_items import ActionItems
    from shared.data.tasks.conversation_items import ConversationItems
    from shared.data.tasks.goals import Goals
    from shared.data.tasks.task_integrations import TaskIntegrations
    from shared.data.tasks.task_shares import TaskShares
    from shared.ports import Documents

_STORES = {
    "account": (
        "accounts",
        "profiles",
        "devices",
        "bin_entries",
        "figures",
        "library_changes",
        "mcp_keys",
        "developer_keys",
        "connected_programs",
        "inbox",
        "digests",
        "health",
        "sign_outs",
        "speech_profiles",
    ),
    "apps": (
        "apps",
        "installed_apps",
        "app_calls",
        "app_logos",
        "app_reviews",
        "call_log",
        "model_refusals",
        "connections",
        "developer_webhooks",
        "live_listeners",
        "webhook_deliveries",
        "mcp_sessions",
    ),
    "chats": (
        "arcs",
        "projects",
        "feedback",
        "messages",
        "alternatives",
        "sessions",
        "sealed_chats",
        "sealed_cache",
        "sync_cache",
        "pairings",
        "history_requests",
        "safety_reviews",
        "shared_chats",
        "custom_agents",
        "runs",
        "turn_slots",
        "voice_sessions",
        "confirmations",
        "grants",
        "offered_suggestions",
        "disclosure_ledger",
        "embeds",
    ),
    "conversations": (
        "conversations",
        "conversation_lists",
        "shared_conversations",
        "transcript_edits",
        "merges",
        "folders",
        "recordings",
        "sync_jobs",
        "live_conversations",
        "summary_ratings",
        "daily_summaries",
    ),
    "files": (
        "file_imports",
        "uploads",
        "files",
    ),
    "memories": ("memories",),
    "people": ("people", "renewals"),
    "store": (
        "hourly_limits",
        "operations",
        "dead_letters",
    ),
    "tasks": (
        "conversation_items",
        "action_items",
        "task_shares",
        "task_integrations",
        "goals",
    ),
}
"""The names of the stores by noun: the folder of their modules."""
_NOUNS = {store: noun for noun, stores in _STORES.items() for store in stores}
_MODULES = {
    "devices": "profiles",
    "installed_apps": "apps",
    "digests": "inbox",
    "mcp_keys": "api_keys",
    "developer_keys": "api_keys",
}
"""The modules of stores that are not named like their module."""


def import_store(name: str) -> ModuleType:
    """Import the module of a store, by the store's name."""
    return import_module(f"shared.data.{_NOUNS[name]}.{_MODULES.get(name, name)}")


class Stores:
    """The stores over one `documents`."""

    accounts: "Accounts"
    arcs: "Arcs"
    profiles: "Profiles"
    projects: "Projects"
    devices: "Devices"
    bin_entries: "BinEntries"
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
    sync_jobs: "SyncJobs"
    live_conversations: "LiveConversations"
    files: "Files"
    people: "People"
    renewals: "Renewals"
    goals: "Goals"
    summary_ratings: "SummaryRatings"
    messages: "Messages"
    alternatives: "Alternatives"
    library_changes: "LibraryChanges"
    sessions: "Sessions"
    sealed_chats: "SealedChats"
    sealed_cache: "SealedCache"
    sync_cache: "SyncCache"
    pairings: "Pairings"
    history_requests: "HistoryRequests"
    safety_reviews: "SafetyReviews"
    shared_chats: "SharedChats"
    custom_agents: "CustomAgents"
    runs: "Runs"
    turn_slots: "TurnSlots"
    voice_sessions: "VoiceSessions"
    confirmations: "Confirmations"
    grants: "Grants"
    offered_suggestions: "OfferedSuggestions"
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
    live_listeners: "LiveListeners"
    webhook_deliveries: "WebhookDeliveries"
    mcp_keys: "McpKeys"
    developer_keys: "DeveloperKeys"
    connected_programs: "ConnectedPrograms"
    mcp_sessions: "McpSessions"
    inbox: "Inbox"
    digests: "Digests"
    health: "Health"
    sign_outs: "SignOuts"
    speech_profiles: "SpeechProfiles"
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
            store = getattr(import_store(name), Stores.__annotations__[name])(self.documents)
            setattr(self, name, store)
            return store
