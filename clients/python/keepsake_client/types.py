"""Values of the API; `make clients` writes this file."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str


class AbortChunk(TypedDict, closed=True):
    type: Literal["abort"]
    reason: Literal["user_cancelled"]


class AcceptIn(TypedDict):
    token: str


class AcceptedOut(TypedDict):
    id: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]


class AcceptedTasksOut(TypedDict):
    count: int


class ActionIn(TypedDict):
    action: str


class ActionItemChangeIn(TypedDict):
    description: NotRequired[str | None]
    completed: NotRequired[bool | None]
    due_at: NotRequired[str | None]
    owner: NotRequired[Literal["me", "other", "unknown"] | None]
    owner_name: NotRequired[str | None]
    exported: NotRequired[bool | None]
    export_date: NotRequired[str | None]
    export_platform: NotRequired[str | None]
    apple_reminder_id: NotRequired[str | None]
    sort_order: NotRequired[int | None]
    indent_level: NotRequired[int | None]


class ActionItemIn(TypedDict):
    id: NotRequired[str | None]
    description: str
    completed: NotRequired[bool]
    due_at: NotRequired[str | None]
    conversation_id: NotRequired[str | None]


class ActionItemOut(TypedDict):
    id: str
    description: str
    completed: bool
    created_at: str
    updated_at: str
    is_locked: NotRequired[bool]
    due_at: str | None
    completed_at: str | None
    conversation_id: str | None
    exported: bool
    export_date: str | None
    export_platform: str | None
    apple_reminder_id: str | None
    sort_order: int
    indent_level: int
    owner: Literal["me", "other", "unknown"]
    owner_name: str | None
    read_kinds: list[Literal["recording", "chat", "file", "paste", "import", "mail", "page", "service", "app", "agent"]] | None


class ActionItemPlaceIn(TypedDict):
    id: str
    sort_order: NotRequired[int | None]
    indent_level: NotRequired[int | None]


class ActionItemPlacesIn(TypedDict):
    items: list[ActionItemPlaceIn]


class ActionItemSyncIn(TypedDict):
    description: NotRequired[str | None]
    completed: NotRequired[bool | None]
    due_at: NotRequired[str | None]
    owner: NotRequired[Literal["me", "other", "unknown"] | None]
    owner_name: NotRequired[str | None]
    exported: NotRequired[bool | None]
    export_date: NotRequired[str | None]
    export_platform: NotRequired[str | None]
    apple_reminder_id: NotRequired[str | None]
    sort_order: NotRequired[int | None]
    indent_level: NotRequired[int | None]
    id: str


class ActionItemSyncsIn(TypedDict):
    items: list[ActionItemSyncIn]


class ActionItemsAddedOut(TypedDict):
    action_items: list[ActionItemOut]
    created_count: int


class ActionItemsChangedOut(TypedDict):
    status: NotRequired[Literal["ok"]]
    updated_count: int


ActionItemsIn: TypeAlias = list[ActionItemIn]


class ActionOut(TypedDict):
    action: str


class ActiveExerciseOut(TypedDict):
    id: str
    step: int


Tool: TypeAlias = str


class AgentChangeIn(TypedDict):
    name: NotRequired[str | None]
    instructions: NotRequired[str | None]
    description: NotRequired[str | None]
    emoji: NotRequired[str | None]
    picture_file_id: NotRequired[str | None]
    tools: NotRequired[list[Tool] | None]
    role: NotRequired[Literal["fast", "standard", "agent"] | None]
    replaces_prompt: NotRequired[bool | None]


class AgentIn(TypedDict):
    name: str
    instructions: str
    description: NotRequired[str]
    emoji: NotRequired[str]
    picture_file_id: NotRequired[str | None]
    tools: NotRequired[list[Tool] | None]
    role: NotRequired[Literal["fast", "standard", "agent"]]
    replaces_prompt: NotRequired[bool]


class AgentLinkIn(TypedDict):
    token: str


class AgentOut(TypedDict):
    name: str
    description: str
    instructions: str
    emoji: str
    picture: str
    tools: list[str] | None
    role: Literal["fast", "standard", "agent"]
    replaces_prompt: bool
    id: str
    created_at: str
    updated_at: str
    is_foreign: bool
    share_token: str | None


class AgentPageOut(TypedDict):
    items: list[AgentOut]
    next: str | None


class AnswerWithdrawnData(TypedDict, closed=True):
    chars: int


class AnswerWithdrawnPart(TypedDict, closed=True):
    type: Literal["data-answer-withdrawn"]
    data: AnswerWithdrawnData


class AppDescriptionOut(TypedDict):
    description: str
    emoji: NotRequired[str]


class AppIdeaIn(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    prompt: NotRequired[str]


Capability: TypeAlias = str


class AppMemoryOut(TypedDict):
    id: str
    uid: str
    content: str
    category: str
    created_at: str
    updated_at: str
    visibility: str
    manually_added: bool
    edited: bool
    reviewed: bool
    is_locked: NotRequired[bool]
    conversation_id: NotRequired[str | None]
    user_review: NotRequired[bool | None]
    app_id: NotRequired[str | None]
    tags: NotRequired[list[str]]


class AppNotificationIn(TypedDict):
    uid: NotRequired[str | None]
    message: NotRequired[str | None]


class AppResultOut(TypedDict):
    app_id: str | None
    content: str


class AppSegmentOut(TypedDict):
    id: str
    text: str
    speaker: str
    speaker_id: int
    speaker_name: NotRequired[str | None]
    is_user: bool
    person_id: NotRequired[str | None]
    start: float
    end: float


class AppTaskOut(TypedDict):
    id: str
    description: str
    completed: bool
    created_at: str
    updated_at: str
    is_locked: NotRequired[bool]
    due_at: NotRequired[str | None]
    completed_at: NotRequired[str | None]
    conversation_id: NotRequired[str | None]


class AppleHealthIn(TypedDict):
    period_days: NotRequired[int | None]
    total_steps: NotRequired[float | None]
    average_steps_per_day: NotRequired[float | None]
    daily_steps: NotRequired[list[dict[str, float | bool | str | None]] | None]
    total_sleep_hours: NotRequired[float | None]
    total_in_bed_hours: NotRequired[float | None]
    sleep_sessions_count: NotRequired[float | None]
    sleep_sessions: NotRequired[list[dict[str, float | bool | str | None]] | None]
    daily_sleep: NotRequired[list[dict[str, float | bool | str | None]] | None]
    heart_rate_average: NotRequired[float | None]
    heart_rate_min: NotRequired[float | None]
    heart_rate_max: NotRequired[float | None]
    total_active_energy: NotRequired[float | None]
    average_active_energy_per_day: NotRequired[float | None]
    daily_active_energy: NotRequired[list[dict[str, float | bool | str | None]] | None]
    workouts: NotRequired[list[dict[str, float | bool | str | None]] | None]


class ArcOut(TypedDict):
    id: str
    session_id: str
    started_at: str
    ended_at: str
    turn_count: int
    summary: str
    themes: list[str]
    mood_opened: str
    mood_closed: str
    open_loops: list[str]
    resolved_threads: list[str]
    crisis_level_max: int


class ArcPageOut(TypedDict):
    items: list[ArcOut]
    next: str | None


SegmentId: TypeAlias = str


class AssignmentIn(TypedDict):
    segment_ids: list[SegmentId]
    assign_type: Literal["is_user", "person_id"]
    value: NotRequired[str | None]


class AudioFileOut(TypedDict):
    id: str
    started_at: str | None
    duration: float


class AudioIn(TypedDict):
    upload: NotRequired[str | None]
    started_at: NotRequired[str | None]
    language: NotRequired[str | None]
    is_own_voice: NotRequired[bool]


class AudioUrlOut(TypedDict):
    id: str
    status: Literal["cached"]
    signed_url: str
    content_type: str
    duration: float


class AudioUrlsOut(TypedDict):
    audio_files: list[AudioUrlOut]


class AuthStepIn(TypedDict):
    name: NotRequired[str]
    url: NotRequired[str]


class AuthStepOut(TypedDict):
    name: str
    url: str


class AuthUrlOut(TypedDict):
    auth_url: str


class AuthorizationIn(TypedDict):
    client_id: NotRequired[str]
    redirect_uri: NotRequired[str]
    response_type: NotRequired[str]
    code_challenge: NotRequired[str]
    code_challenge_method: NotRequired[str]
    scope: NotRequired[str]
    state: NotRequired[str]
    resource: NotRequired[str]


class AuthorizationOut(TypedDict):
    name: str
    host: str
    is_local: bool
    document_host: str | None
    scope: Literal["read", "write"]
    refusal: NotRequired[str | None]
    return_url: NotRequired[str | None]


class AuthorizeOut(TypedDict):
    url: str


class AvailabilityOut(TypedDict):
    available: bool


class BinEntryOut(TypedDict):
    kind: Literal["conversations", "memories", "action_items"]
    id: str
    title: str
    binned_at: str
    due_at: str | None


ConversationId: TypeAlias = str


class BulkMoveIn(TypedDict):
    conversation_ids: list[ConversationId]


class BulkMoveOut(TypedDict):
    moved_count: int


class CallOut(TypedDict):
    id: str
    at: str
    kind: Literal["tool", "webhook", "mcp"]
    name: str
    ms: int
    user: str
    failed: bool
    error: str | None


class CallbackIn(TypedDict):
    state: str
    code: NotRequired[str | None]


class CapitalOkOut(TypedDict):
    status: NotRequired[Literal["Ok"]]


class CardStructuredOut(TypedDict):
    title: str
    emoji: str


class ChangeData(TypedDict, closed=True):
    id: str
    text: str
    state: Literal["done"]


class ChangePart(TypedDict, closed=True):
    type: Literal["data-change"]
    id: str
    data: ChangeData


class ChatFeedbackIn(TypedDict):
    rating: Literal["positive", "negative", "skip"]


class ChatModelOut(TypedDict):
    id: Literal["fast", "standard", "agent"]
    name: str


class ChatModelsOut(TypedDict):
    models: list[ChatModelOut]


class ChatPromptIn(TypedDict):
    prompt: str
    reminder: NotRequired[str]


class ChatPromptOut(TypedDict):
    prompt: str
    reminder: str
    is_default: bool


class ChatSuggestionsOut(TypedDict):
    suggestions: list[str]


class ChatToolOut(TypedDict):
    name: str
    description: str
    endpoint: str
    method: str
    auth_required: bool
    status_message: str | None
    is_mcp: bool


class ChoiceOut(TypedDict):
    id: str
    title: str
    description: str | None
    doc_url: NotRequired[str | None]


class ChosenAnswerIn(TypedDict):
    voice: int


class CiphertextIn(TypedDict):
    version: int
    ciphertext: str


class ClientSecretOut(TypedDict):
    value: str
    expires_at: int


class ConfirmationSource(TypedDict, closed=True):
    kind: Literal["library", "app", "service"]
    id: str
    name: str


class ConnectData(TypedDict, closed=True):
    url: str
    name: str | None


class ConnectPart(TypedDict, closed=True):
    type: Literal["data-connect"]
    id: str
    data: ConnectData


class ConnectionOut(TypedDict):
    service: str
    label: str
    available: bool
    status: Literal["connected", "expired", "not_connected"]
    account: NotRequired[str | None]
    scopes: NotRequired[list[str]]
    connected_at: NotRequired[str | None]


class ConversationChangeIn(TypedDict):
    title: NotRequired[str | None]
    overview: NotRequired[str | None]
    emoji: NotRequired[str | None]
    category: NotRequired[str | None]
    starred: NotRequired[bool | None]
    discarded: NotRequired[bool | None]


class ConversationCreatedOut(TypedDict):
    id: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]
    discarded: NotRequired[bool]


class ConversationFolderIn(TypedDict):
    folder_id: str | None


Person: TypeAlias = str


Topic: TypeAlias = str


class ConversationSearchIn(TypedDict):
    query: str
    page: NotRequired[int]
    per_page: NotRequired[int]
    include_discarded: NotRequired[bool]
    start_date: NotRequired[str | None]
    end_date: NotRequired[str | None]
    people: NotRequired[list[Person]]
    topics: NotRequired[list[Topic]]
    include_transcript: NotRequired[bool]


class CrisisContactOut(TypedDict):
    country: str
    name: str
    contact: str
    also: str
    hours: str
    source: str
    checked: str


class DailySummarySettingsIn(TypedDict):
    enabled: NotRequired[bool | None]
    hour: NotRequired[int | None]


class DailySummarySettingsOut(TypedDict):
    enabled: bool
    hour: int


class DataPointOut(TypedDict):
    label: str
    value: float


class DatasetOut(TypedDict):
    label: str
    data_points: list[DataPointOut]
    color: str | None


class DayPlaceOut(TypedDict):
    latitude: float
    longitude: float
    address: str | None
    conversation_id: str | None
    time: str | None


class DayStatsOut(TypedDict):
    total_conversations: int
    total_duration_minutes: int
    action_items_count: int


class DayTaskOut(TypedDict):
    description: str
    priority: Literal["high", "medium", "low"]
    source_conversation_id: str | None
    completed: bool
    segment: int | None


class Deactivation(TypedDict):
    at: str
    reason: str


class DetailsDecisionIn(TypedDict):
    responses: dict[Literal["memories:manual", "memories:system", "memories:interesting", "settings:own_names", "settings:place"], Literal["accepted", "rejected"]]


class DetailsResponseOut(TypedDict):
    status: Literal["pending", "accepted", "rejected"]
    content: list[str] | None


class DetailsStatesOut(TypedDict):
    request_id: str
    created_at: str
    states: dict[Literal["memories:manual", "memories:system", "memories:interesting", "settings:own_names", "settings:place"], Literal["pending", "accepted", "rejected"]]


class DeveloperConversationChangeIn(TypedDict):
    title: NotRequired[str | None]
    discarded: NotRequired[bool | None]


class DeveloperKeyIn(TypedDict):
    name: str
    expires_in_days: NotRequired[int]
    scopes: NotRequired[list[Literal["conversations:read", "conversations:write", "memories:read", "memories:write", "action_items:read", "action_items:write", "goals:read", "goals:write"]] | None]


class DeveloperKeyOut(TypedDict):
    id: str
    name: str
    key_prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    scopes: list[Literal["conversations:read", "conversations:write", "memories:read", "memories:write", "action_items:read", "action_items:write", "goals:read", "goals:write"]]


Tag: TypeAlias = str


class DeveloperMemoryChangeIn(TypedDict):
    content: NotRequired[str | None]
    category: NotRequired[Literal["interesting", "system", "manual"] | None]
    visibility: NotRequired[Literal["private", "public"] | None]
    tags: NotRequired[list[Tag] | None]


class DeveloperMemoryIn(TypedDict):
    content: str
    category: NotRequired[Literal["interesting", "system", "manual"]]
    visibility: NotRequired[Literal["private", "public"]]
    tags: NotRequired[list[Tag]]


class DeveloperSegmentIn(TypedDict):
    text: str
    speaker: NotRequired[str | None]
    speaker_id: NotRequired[int | None]
    is_user: NotRequired[bool]
    person_id: NotRequired[str | None]
    start: NotRequired[float]
    end: NotRequired[float]


class DeveloperTaskChangeIn(TypedDict):
    description: NotRequired[str | None]
    completed: NotRequired[bool | None]
    due_at: NotRequired[str | None]


class DeveloperTaskIn(TypedDict):
    description: str
    completed: NotRequired[bool]
    due_at: NotRequired[str | None]


class DeveloperTasksIn(TypedDict):
    action_items: list[DeveloperTaskIn]


class DisconnectOut(TypedDict):
    status: NotRequired[Literal["ok"]]
    revoked: bool


class DoubleOut(TypedDict):
    id: str
    title: str
    started_at: str
    source: str
    visibility: Literal["private", "shared"]


class EmbedIn(TypedDict):
    message_id: str
    type: Literal["tool_result", "record", "website", "place", "event", "code", "sheet", "image", "document"]
    content: str
    version: NotRequired[int]
    status: NotRequired[Literal["processing", "finished", "error", "cancelled"]]


class EmbedKeptOut(TypedDict):
    status: Literal["same", "newer"]


class EmbedSource(TypedDict, closed=True):
    kind: Literal["library", "app", "service"]
    id: str
    name: str


class EmbedSourceOut(TypedDict):
    kind: Literal["library", "app", "service"]
    id: str
    name: str


class EmptyOut(TypedDict):
    pass


class ErasureOut(TypedDict):
    status: Literal["none", "running", "done"]
    requested_at: NotRequired[str | None]
    documents: NotRequired[int]
    note: NotRequired[str]


class ErrorChunk(TypedDict, closed=True):
    type: Literal["error"]
    errorText: str


class EventOut(TypedDict):
    title: str
    description: str
    start: str
    duration: int
    created: bool


EventsIdxItem: TypeAlias = int


class EventStatesIn(TypedDict):
    events_idx: list[EventsIdxItem]
    values: list[bool]


class ExerciseIn(TypedDict):
    exercise_id: str | None


class ExerciseOut(TypedDict):
    id: str
    title: str
    purpose: str
    steps: list[str]


class ExternalConversationIn(TypedDict):
    text: NotRequired[str]
    text_source: NotRequired[Literal["audio_transcript", "message", "other_text"]]
    text_source_spec: NotRequired[str | None]
    started_at: NotRequired[str | None]
    finished_at: NotRequired[str | None]
    language: NotRequired[str | None]


class ExternalIntegrationIn(TypedDict):
    app_home_url: NotRequired[str | None]
    chat_tools_manifest_url: NotRequired[str | None]
    webhook_url: NotRequired[str | None]
    setup_completed_url: NotRequired[str | None]
    setup_instructions_file_path: NotRequired[str | None]
    triggers_on: NotRequired[str | None]
    actions: NotRequired[list[ActionIn]]
    auth_steps: NotRequired[list[AuthStepIn]]
    chat_messages_enabled: NotRequired[bool]
    chat_messages_target: NotRequired[Literal["main", "app"]]
    chat_messages_notify: NotRequired[bool]


class ExternalIntegrationOut(TypedDict):
    triggers_on: str | None
    webhook_url: str | None
    setup_completed_url: str | None
    setup_instructions_file_path: str | None
    is_instructions_url: bool
    app_home_url: str | None
    chat_tools_manifest_url: str | None
    mcp_server_url: str | None
    auth_steps: list[AuthStepOut]
    actions: list[ActionOut]
    chat_messages_enabled: bool
    chat_messages_target: Literal["main", "app"]
    chat_messages_notify: bool


class ExternalSearchIn(TypedDict):
    query: str
    page: NotRequired[int]
    per_page: NotRequired[int]
    include_discarded: NotRequired[bool]
    start_date: NotRequired[str | None]
    end_date: NotRequired[str | None]


class FactIn(TypedDict):
    content: str
    tags: NotRequired[list[Tag]]


class FailureOut(TypedDict):
    reason: Literal["refused_key", "unknown_model", "no_quota", "day_used_up", "no_connection", "busy", "malformed_answer", "too_long", "filtered", "wrong_server", "other"]
    detail: str
    can_retry: bool


class FcmTokenIn(TypedDict):
    fcm_token: str
    time_zone: str


class FileOut(TypedDict):
    id: str
    openai_file_id: str
    name: str
    mime_type: str
    thumbnail: str | None
    created_at: str
    status: Literal["processing", "ready", "rejected"]
    reason: str
    size: int
    token_count: int
    page_count: int
    width: int
    height: int
    document: str | None


class FilePageOut(TypedDict):
    items: list[FileOut]
    next: str | None


Upload: TypeAlias = str


class FilesIn(TypedDict):
    uploads: NotRequired[list[Upload]]


class FiltersOut(TypedDict):
    q: str | None
    category: str | None
    rating: float | None
    capability: str | None
    sort: str | None
    my_apps: bool
    installed_apps: bool


class FinishMetadata(TypedDict, closed=True):
    outcome: Literal["completed", "limited", "stopped", "interrupted", "failed"] | Literal["waiting"]


class FirstMessageIn(TypedDict):
    first_message: NotRequired[str]


class FocusIn(TypedDict):
    focus_mode_id: str | None


class FocusModeChangeIn(TypedDict):
    name: NotRequired[str | None]
    instructions: NotRequired[str | None]


class FocusModeIn(TypedDict):
    name: str
    instructions: str


class FocusModeOut(TypedDict):
    id: str
    name: str
    instructions: str


class FolderChangeIn(TypedDict):
    name: NotRequired[str | None]
    description: NotRequired[str | None]
    color: NotRequired[str | None]
    icon: NotRequired[str | None]
    order: NotRequired[int | None]


class FolderIn(TypedDict):
    name: str
    description: NotRequired[str | None]
    color: NotRequired[str | None]
    icon: NotRequired[str | None]


FolderId: TypeAlias = str


class FolderOrderIn(TypedDict):
    folder_ids: list[FolderId]


class FolderOut(TypedDict):
    id: str
    name: str
    description: str
    color: str
    icon: str
    created_at: str | None
    updated_at: str | None
    order: int
    is_default: bool
    is_system: bool
    category_mapping: str | None
    conversation_count: int


class FoundMessageOut(TypedDict):
    id: str
    sender: Literal["ai", "human"]
    created_at: str
    excerpt: str


class GeolocationIn(TypedDict):
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    altitude: NotRequired[float | None]
    accuracy: NotRequired[float | None]
    google_place_id: NotRequired[str | None]
    address: NotRequired[str | None]
    location_type: NotRequired[str | None]
    time: NotRequired[str | None]


class GeolocationOut(TypedDict):
    latitude: float | None
    longitude: float | None
    altitude: float | None
    accuracy: float | None
    google_place_id: str | None
    address: str | None
    location_type: str | None
    time: str | None


class GoalAdviceOut(TypedDict):
    advice: str


class GoalChangeIn(TypedDict):
    title: NotRequired[str | None]
    goal_type: NotRequired[Literal["boolean", "scale", "numeric"] | None]
    target_value: NotRequired[float | None]
    current_value: NotRequired[float | None]
    min_value: NotRequired[float | None]
    max_value: NotRequired[float | None]
    unit: NotRequired[str | None]
    is_active: NotRequired[bool | None]


class GoalIn(TypedDict):
    id: NotRequired[str | None]
    title: str
    goal_type: NotRequired[Literal["boolean", "scale", "numeric"]]
    target_value: NotRequired[float]
    current_value: NotRequired[float]
    min_value: NotRequired[float]
    max_value: NotRequired[float]
    unit: NotRequired[str | None]


class GoalOut(TypedDict):
    id: str
    title: str
    goal_type: str
    target_value: float
    current_value: float
    min_value: float
    max_value: float
    unit: str | None
    is_active: bool
    created_at: str
    updated_at: str


class GoalSuggestionOut(TypedDict):
    suggested_title: str
    suggested_type: Literal["boolean", "scale", "numeric"]
    suggested_target: float
    suggested_min: float
    suggested_max: float
    reasoning: str


class HasProfileOut(TypedDict):
    has_profile: bool


class HeadingOut(TypedDict):
    id: str
    title: str


VocabularyItem: TypeAlias = str


class HearingIn(TypedDict):
    single_language_mode: NotRequired[bool | None]
    vocabulary: NotRequired[list[VocabularyItem] | None]


class HearingOut(TypedDict):
    single_language_mode: bool
    vocabulary: list[str]


class HighlightOut(TypedDict):
    topic: str
    emoji: str
    summary: str
    conversation_ids: list[str]


class HistoryPointOut(TypedDict):
    transcription_seconds: NotRequired[int]
    words_transcribed: NotRequired[int]
    insights_gained: NotRequired[int]
    memories_created: NotRequired[int]
    date: str


class HistoryRequestData(TypedDict, closed=True):
    chat_session_id: str
    reason: Literal["cache_miss", "decryption_failed", "insufficient_history"]


class HistoryRequestPart(TypedDict, closed=True):
    type: Literal["data-request-chat-history"]
    id: str
    data: HistoryRequestData


class ImportIn(TypedDict):
    uploads: NotRequired[list[Upload]]
    modified: NotRequired[list[str | None]]
    me: NotRequired[str | None]
    wearable: NotRequired[Literal["limitless", "omi", "bee"] | None]
    key: NotRequired[str | None]


class ImportJobOut(TypedDict):
    job_id: str
    status: Literal["pending", "processing", "completed", "failed"]
    total_files: int
    processed_files: int
    conversations_created: int
    created_at: str
    error: str | None


class ImportProgressOut(TypedDict):
    id: str
    status: Literal["reading", "preview", "keeping", "completed"]
    conversation_count: int
    kept_count: int
    resumes_at: str | None
    waits_for: str


class ImportedConversationOut(TypedDict):
    id: str
    title: str
    started_at: str
    segments: int
    speakers: list[str]
    is_known: bool
    is_dated: NotRequired[bool]


class InboxItemOut(TypedDict):
    id: str
    app_id: str
    title: str
    body: str
    created_at: str
    delivered_at: str
    read: bool


class InboxPageOut(TypedDict):
    items: list[InboxItemOut]
    next_cursor: str | None


class InsightOut(TypedDict):
    insight: str
    conversation_id: str | None


class IntegrationIn(TypedDict):
    connected: NotRequired[bool | None]


class IntegrationOut(TypedDict):
    connected: bool
    app_key: str


class ItemDeletionIn(TypedDict):
    description: str
    completed: NotRequired[bool]


class ItemDescriptionIn(TypedDict):
    old_description: str
    description: str


class ItemOut(TypedDict):
    description: str
    completed: bool
    due_at: NotRequired[str | None]
    owner: NotRequired[Literal["me", "other", "unknown"]]
    owner_name: NotRequired[str | None]


ItemsIdxItem: TypeAlias = int


class ItemStatesIn(TypedDict):
    items_idx: list[ItemsIdxItem]
    values: list[bool]


Text: TypeAlias = int


class KeepIn(TypedDict):
    texts: NotRequired[list[Text]]
    me: NotRequired[str | None]


class KeptRecordingOut(TypedDict):
    has_recording: bool


class KeptSoundOut(TypedDict):
    private_cloud_sync_enabled: bool


class KeyOut(TypedDict):
    id: str
    label: str
    created_at: str


class KnownOut(TypedDict):
    reason: Literal["about the library", "advice", "near by words"]
    conversations: NotRequired[list[str]]
    facts: NotRequired[list[str]]


class LanguageIn(TypedDict):
    language: str


class LanguageOut(TypedDict):
    language: str | None


class LeftOutOut(TypedDict):
    title: str
    reason: str
    words: NotRequired[int]


class LibraryChangeOut(TypedDict):
    id: str
    text: str
    state: Literal["done", "undone"]


class LibrarySearchIn(TypedDict):
    query: str
    limit: NotRequired[int]


class LimitlessIn(TypedDict):
    pass


class LiveListenerOut(TypedDict):
    app_id: str
    last_at: str
    lines: int
    sound_s: int


class ManifestRefreshOut(TypedDict):
    status: NotRequired[Literal["ok"]]
    tools_count: int


class McpAppIn(TypedDict):
    name: str
    mcp_server_url: str
    description: NotRequired[str]
    allow_local: NotRequired[bool]


class McpAppOut(TypedDict):
    app_id: str
    requires_oauth: bool
    auth_url: str | None
    tools_count: int
    tool_names: list[str]
    refused_tools: list[str]


class McpCallbackIn(TypedDict):
    state: str
    code: NotRequired[str | None]
    iss: NotRequired[str | None]


class McpKeyIn(TypedDict):
    name: str
    expires_in_days: NotRequired[int]
    scope: NotRequired[Literal["read", "write"]]


class McpKeyOut(TypedDict):
    id: str
    name: str
    key_prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    scope: Literal["read", "write"]


class McpMemoryIn(TypedDict):
    content: str
    category: NotRequired[str | None]


class MemoriesOut(TypedDict):
    memories: list[AppMemoryOut]


class MemoryIn(TypedDict):
    id: NotRequired[str | None]
    content: str
    visibility: NotRequired[Literal["private", "public"]]
    category: NotRequired[Literal["interesting", "system", "manual"]]
    tags: NotRequired[list[Tag]]


class MemoryMergeIn(TypedDict):
    ids: list[str]
    content: str


class MemoryOut(TypedDict):
    id: str
    uid: str
    content: str
    category: str
    created_at: str
    updated_at: str
    visibility: str
    manually_added: bool
    edited: bool
    reviewed: bool
    is_locked: NotRequired[bool]
    said_to_owner: str
    conversation_id: str | None
    memory_id: str | None
    evidence: str
    segment: int | None
    mentions: int
    tags: list[str]
    valid_to: str | None
    user_review: bool | None
    app_id: str | None
    session_id: str | None
    message_id: str | None
    read_kinds: list[Literal["recording", "chat", "file", "paste", "import", "mail", "page", "service", "app", "agent"]] | None


class MemoryValueIn(TypedDict):
    value: str


class MentorSettings(TypedDict):
    frequency: int


class MergeIn(TypedDict):
    conversation_ids: list[ConversationId]
    reprocess: NotRequired[bool]


class MergeOut(TypedDict):
    status: Literal["merging", "undone"]
    message: str
    warning: NotRequired[str | None]
    conversation_ids: list[str]
    merged_conversation_id: str
    can_be_undone_until: str | None


class MessageFileOut(TypedDict):
    id: str
    openai_file_id: str
    name: str
    mime_type: str
    created_at: str
    thumbnail: str | None


class ModelRefusalOut(TypedDict):
    at: str
    tool: str
    model: str
    words: str


class NamedSpeakerOut(TypedDict):
    name: str
    conversation_count: int
    last_conversation_id: str
    last_spoke_at: str


class NewDeveloperKeyOut(TypedDict):
    id: str
    name: str
    key_prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    scopes: list[Literal["conversations:read", "conversations:write", "memories:read", "memories:write", "action_items:read", "action_items:write", "goals:read", "goals:write"]]
    key: str


class NewKeyOut(TypedDict):
    id: str
    label: str
    created_at: str
    secret: str


class NewMcpKeyOut(TypedDict):
    id: str
    name: str
    key_prefix: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    scope: Literal["read", "write"]
    key: str


class NotTakenOut(TypedDict):
    name: str
    reason: str


class NotificationIn(TypedDict):
    aid: NotRequired[str | None]
    uid: NotRequired[str | None]
    message: NotRequired[str | None]


class NumberOut(TypedDict):
    said: str
    conversation_id: str | None
    segment: int | None


class OkOut(TypedDict):
    status: NotRequired[Literal["ok"]]


class OnboardingIn(TypedDict):
    completed: NotRequired[bool | None]
    acquisition_source: NotRequired[str | None]


class OnboardingOut(TypedDict):
    completed: bool
    acquisition_source: str | None


class PageContextIn(TypedDict):
    type: NotRequired[str | None]
    id: NotRequired[str | None]
    title: NotRequired[str | None]
    start: NotRequired[str | None]
    end: NotRequired[str | None]


class PaginationOut(TypedDict):
    total: int
    count: int
    offset: int
    limit: int
    has_more: bool


class PairingIdIn(TypedDict):
    id: str


class PairingIn(TypedDict):
    id: str
    wrapped_keys: str


class PairingOut(TypedDict):
    expires_at: str


class PartDelta(TypedDict, closed=True):
    type: Literal["text-delta", "reasoning-delta"]
    id: str
    delta: str


class PartEnd(TypedDict, closed=True):
    type: Literal["text-end", "reasoning-end"]
    id: str


class PassageOut(TypedDict):
    first_segment: int
    last_segment: int
    text: str


class PendingSyncOut(TypedDict):
    pending_export: list[ActionItemOut]
    synced_items: list[ActionItemOut]


class PeriodUsageOut(TypedDict):
    transcription_seconds: NotRequired[int]
    words_transcribed: NotRequired[int]
    insights_gained: NotRequired[int]
    memories_created: NotRequired[int]


class PersonIn(TypedDict):
    id: NotRequired[str | None]
    name: str
    role: NotRequired[str]


class PersonNameIn(TypedDict):
    value: str


class PersonOut(TypedDict):
    id: str
    name: str
    role: str
    created_at: str
    updated_at: str
    speech_samples: NotRequired[list[str]]
    speech_sample_transcripts: NotRequired[list[str]]
    speech_samples_version: NotRequired[int]


class PersonRoleIn(TypedDict):
    value: str


class PhotoIn(TypedDict):
    id: NotRequired[str | None]
    base64: NotRequired[str | None]
    description: NotRequired[str | None]
    created_at: NotRequired[str | None]
    discarded: NotRequired[bool]


class PhotoOut(TypedDict):
    id: str | None
    base64: str | None
    description: str | None
    created_at: str | None
    discarded: bool


class PieceOut(TypedDict):
    text: str
    is_match: bool


class PlaceIn(TypedDict):
    latitude: float
    longitude: float
    altitude: NotRequired[float | None]
    accuracy: NotRequired[float | None]
    google_place_id: NotRequired[str | None]
    address: NotRequired[str | None]
    location_type: NotRequired[str | None]
    time: NotRequired[str | None]


class PlacementOut(TypedDict, closed=True):
    turn_index: int
    tab_index: int
    voice: int


class PlanOut(TypedDict):
    plan: NotRequired[Literal["unlimited"]]
    status: NotRequired[Literal["active"]]
    limits: NotRequired[dict[str, int]]


class PrecacheOut(TypedDict):
    status: Literal["started", "no_audio"]
    audio_file_count: int


MutedApp: TypeAlias = str


class PreferredAppIn(TypedDict):
    app_id: NotRequired[str]


Scope: TypeAlias = str


class ProactiveNotificationIn(TypedDict):
    scopes: NotRequired[list[Scope]]


class ProactiveNotificationOut(TypedDict):
    scopes: list[str]


OwnName: TypeAlias = str


Interest: TypeAlias = str


class ProfileIn(TypedDict):
    name: NotRequired[str | None]
    time_zone: NotRequired[str | None]
    language: NotRequired[str | None]
    retention_days: NotRequired[int | None]
    is_place_shared: NotRequired[bool | None]
    keeps_audio: NotRequired[bool | None]
    own_names: NotRequired[list[OwnName] | None]
    interests: NotRequired[list[Interest] | None]
    learning_style: NotRequired[str | None]
    summarises_results: NotRequired[bool | None]
    recalls_memories: NotRequired[bool | None]
    volunteers_memories: NotRequired[bool | None]
    recalls_chats: NotRequired[bool | None]
    preferred_model: NotRequired[Literal["auto", "fast", "standard", "agent"] | None]
    masks_private_data: NotRequired[bool | None]


class ProfileOut(TypedDict):
    name: str
    time_zone: str
    language: str | None
    retention_days: int
    is_place_shared: bool
    keeps_audio: bool
    own_names: list[str]
    interests: list[str]
    learning_style: str
    summarises_results: bool
    recalls_memories: bool
    volunteers_memories: bool
    recalls_chats: bool
    preferred_model: Literal["auto", "fast", "standard", "agent"]
    masks_private_data: bool
    data_protection_level: NotRequired[Literal["standard"]]
    migration_status: NotRequired[None]


class ProfileUrlOut(TypedDict):
    url: str | None


class ProgramMemoryOut(TypedDict):
    id: str
    content: str
    category: str
    visibility: Literal["private", "public"]
    tags: list[str]
    created_at: str
    updated_at: str
    manually_added: bool
    reviewed: bool
    edited: bool


class ProgramOut(TypedDict):
    id: str
    name: str
    host: str
    is_local: bool
    scope: Literal["read", "write"]
    created_at: str
    last_used_at: str | None
    expires_at: str


class ProgramTaskOut(TypedDict):
    id: str
    description: str
    completed: bool
    created_at: str
    updated_at: str
    due_at: str | None
    completed_at: str | None
    conversation_id: str | None
    owner: Literal["me", "other", "unknown"]
    owner_name: str | None


class ProgressPointOut(TypedDict):
    at: str
    value: float


class ProjectFileOut(TypedDict):
    id: str
    name: str
    mime_type: str
    size: int
    status: Literal["processing", "ready", "rejected"]
    reason: str
    thumbnail: str | None
    created_at: str


class ProjectFilesOut(TypedDict):
    items: list[ProjectFileOut]


class ProjectIn(TypedDict):
    name: str


class ProjectOut(TypedDict):
    id: str
    name: str
    created_at: str
    updated_at: str


class ProjectPageOut(TypedDict):
    items: list[ProjectOut]
    next: str | None


class PromptIn(TypedDict):
    prompt: str


class QuestionIn(TypedDict):
    question: str
    limit: NotRequired[int]


class QuestionOut(TypedDict):
    question: str
    conversation_id: str | None


QuietHoursIn = TypedDict(
    "QuietHoursIn",
    {
        "from": str,
        "to": str,
    },
)


class QuotaOut(TypedDict):
    name: Literal["turns", "tokens", "reading_tokens", "ingested_bytes", "sound_bytes", "recorded_seconds", "file_seconds", "outbound_calls", "live_calls", "followers", "renewals"] | Literal["stored_bytes", "quota_answers"]
    used: int
    limit: int | None
    resets_at: str | None


class ReceiptOut(TypedDict):
    id: str
    state: Literal["accepted", "held", "sent", "failed", "read"]
    accepted_at: str
    sent_at: str | None
    failed_at: str | None
    read_at: str | None


class RecordingOut(TypedDict):
    id: str
    name: str
    status: Literal["transcribing", "done", "failed", "silent"]
    created_at: str
    started_at: str | None
    duration_s: float | None
    transcribed_s: float
    failure: FailureOut | None
    has_audio: bool
    conversation_id: str | None


class RecordingPermissionOut(TypedDict):
    store_recording_permission: bool


class RecordingsOut(TypedDict):
    items: list[RecordingOut]
    can_transcribe: bool
    tells_speakers: bool


class RegistrationOut(TypedDict):
    client_id: str
    client_id_issued_at: int
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str


class RenewalsOut(TypedDict):
    done: int
    total: int
    continues_at: str | None


class ReportOut(TypedDict):
    message: NotRequired[str]


class RequestedEmbeds(TypedDict, closed=True):
    embed_ids: list[str]


class ResentCallIn(TypedDict):
    call_id: str
    tool: str
    arguments: NotRequired[str]
    cycle: NotRequired[int]


EmbedId: TypeAlias = str


class ResentMessageIn(TypedDict):
    id: str
    sender: Literal["human", "ai"]
    text: str
    created_at: str
    calls: NotRequired[list[ResentCallIn]]


class ResourceMetadataOut(TypedDict):
    resource: str
    authorization_servers: list[str]
    scopes_supported: list[str]
    bearer_methods_supported: list[str]
    resource_name: str


class ReviewIn(TypedDict):
    score: float
    review: NotRequired[str]


class ReviewOut(TypedDict):
    uid: str
    score: float
    review: str
    username: str
    rated_at: str
    updated_at: str | None
    response: str | None
    responded_at: str | None


class ReviewResponseIn(TypedDict):
    reviewer_uid: str
    response: str


class RoleUsageOut(TypedDict):
    role: Literal["fast", "reader", "standard", "agent", "persona", "persona_premium"]
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_micro_usd: int
    priced_calls: int


class RuleIn(TypedDict):
    text: str


class RuleOut(TypedDict):
    id: str
    text: str
    created_at: str
    message_id: str | None
    quote: str
    archived_at: str | None


class SafetyOut(TypedDict):
    score: float
    step: Literal["none", "note", "slow", "review", "locked"]
    locked_until: str | None


class SampleIn(TypedDict):
    pass


class SampleLibraryOut(TypedDict):
    conversations: int


class SealedChatOut(TypedDict):
    id: str
    created_at: str
    changed_at: str
    version: int
    ciphertext: str | None
    is_deleted: bool
    message_count: int


class SealedMessageIn(TypedDict):
    id: str
    created_at: str
    version: int
    ciphertext: str | None


class SealedMessageOut(TypedDict):
    id: str
    created_at: str
    version: int
    ciphertext: str | None


class SecretOut(TypedDict):
    signing_secret: str
    retired_secret_until: str


class SegmentTextIn(TypedDict):
    segment_id: str
    text: str


class ServerMetadataOut(TypedDict):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    response_modes_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    code_challenge_methods_supported: list[str]
    client_id_metadata_document_supported: bool
    authorization_response_iss_parameter_supported: bool


class ServerOut(TypedDict):
    name: str
    version: str
    protocol_version: str
    transport: list[str]
    tools: list[str]
    authentication: str


class SessionChangeIn(TypedDict):
    title: NotRequired[str | None]
    starred: NotRequired[bool | None]
    agent_id: NotRequired[str | None]
    project_id: NotRequired[str | None]


class SessionIn(TypedDict):
    title: NotRequired[str | None]
    app_id: NotRequired[str | None]
    agent_id: NotRequired[str | None]
    project_id: NotRequired[str | None]
    storage_mode: NotRequired[Literal["managed", "incognito", "client_encrypted"]]


class SessionOut(TypedDict):
    id: str
    title: str
    starred: bool
    app_id: str | None
    plugin_id: str | None
    created_at: str
    updated_at: str
    message_count: int
    preview: str
    shared: bool
    focus_mode_id: str | None
    agent_id: str | None
    project_id: str | None
    is_summarised: bool
    storage_mode: Literal["managed", "incognito", "client_encrypted"]
    exercise: ActiveExerciseOut | None
    locked_until: str | None
    summary: str
    tags: list[str]
    icons: list[str]
    category: Literal["general", "software", "science", "medicine", "law", "finance", "business", "marketing", "design", "making", "cooking", "history", "culture", "travel", "learning", "society", "wellbeing"]
    language: str
    details_requests: list[DetailsStatesOut]
    title_kinds: list[Literal["recording", "chat", "file", "paste", "import", "mail", "page", "service", "app", "agent"]] | None
    summary_kinds: list[Literal["recording", "chat", "file", "paste", "import", "mail", "page", "service", "app", "agent"]] | None


class ShareOut(TypedDict):
    status: NotRequired[Literal["ok"]]
    visibility: Literal["private", "shared"]
    url: str | None


class SharedAgentOut(TypedDict):
    name: str
    description: str
    instructions: str
    emoji: str
    picture: str
    tools: list[str] | None
    role: Literal["fast", "standard", "agent"]
    replaces_prompt: bool


class SharedItemOut(TypedDict):
    description: str
    completed: bool


class SharedMessageOut(TypedDict):
    sender: Literal["human", "ai"]
    text: str
    created_at: str


class SharedSegmentOut(TypedDict):
    text: str
    speaker: str
    speaker_name: str | None
    is_user: bool
    start: float
    end: float


class SharedStructureOut(TypedDict):
    title: str
    overview: str
    emoji: str
    category: str
    action_items: list[SharedItemOut]
    events: list[EventOut]


class SharedTaskOut(TypedDict):
    description: str
    due_at: str | None


class SharedTasksOut(TypedDict):
    sender_name: str | None
    tasks: list[SharedTaskOut]


class ShortMemoryOut(TypedDict):
    id: str
    content: str
    category: str


class ShownVersionIn(TypedDict):
    message_id: str


class SignOutIn(TypedDict):
    revokes_keys: NotRequired[bool]


class SimilarChatIn(TypedDict):
    title: str
    summary: str


class SnippetOut(TypedDict):
    segment: int | None
    speaker_id: int | None
    speaker_name: str | None
    is_user: bool
    pieces: list[PieceOut]


class Source(TypedDict):
    kind: Literal["library", "app", "service"]
    id: NotRequired[str]
    name: NotRequired[str]


class SourceIn(TypedDict):
    kind: Literal["library", "app", "service"]
    id: NotRequired[str]
    name: NotRequired[str]


class SourceOut(TypedDict):
    id: str
    title: str
    created_at: str


class SpeakerOut(TypedDict):
    name: str
    segments: int


class SpokenOut(TypedDict):
    id: str
    text: str
    speaker_id: int
    speaker_name: str | None
    start: float
    end: float


class SpokenTextOut(TypedDict):
    transcript: str
    language: str | None


class StageData(TypedDict, closed=True):
    name: Literal["thinking", "using_tools", "answering", "response_ready"]


class StagePart(TypedDict, closed=True):
    type: Literal["data-stage"]
    data: StageData
    transient: Literal[True]


class StartChunk(TypedDict, closed=True):
    type: Literal["start"]
    messageId: str


class StatusData(TypedDict, closed=True):
    text: str
    app_id: str | None


class StatusPart(TypedDict, closed=True):
    type: Literal["data-status"]
    data: StatusData
    transient: Literal[True]


class StepChunk(TypedDict, closed=True):
    type: Literal["start-step", "finish-step"]


class StopOut(TypedDict):
    status: Literal["stopping", "ended"]
    outcome: NotRequired[Literal["completed", "limited", "stopped", "interrupted", "failed"] | None]


class StoredProfileOut(TypedDict):
    url: str


class StructuredOut(TypedDict):
    title: str
    overview: str
    emoji: str
    category: str
    action_items: list[ItemOut]
    events: list[EventOut]


class SubscriptionOut(TypedDict):
    subscription: NotRequired[PlanOut]
    transcription_seconds_used: NotRequired[int]
    transcription_seconds_limit: NotRequired[int]
    words_transcribed_used: NotRequired[int]
    words_transcribed_limit: NotRequired[int]
    insights_gained_used: NotRequired[int]
    insights_gained_limit: NotRequired[int]
    memories_created_used: NotRequired[int]
    memories_created_limit: NotRequired[int]
    show_subscription_ui: NotRequired[bool]


class SuccessOut(TypedDict):
    success: NotRequired[Literal[True]]


class SuggestedActionOut(TypedDict):
    tool: Literal["remember", "update_memory", "delete_memory", "change_profile"]
    arguments: dict[str, Any]
    entry_id: str | None
    entry_text: str | None


class SuggestedQuestionsOut(TypedDict):
    questions: list[str]
    hint: NotRequired[str | None]


class SummaryOut(TypedDict):
    summary: str


class SummaryRatingOut(TypedDict):
    has_rating: bool


class SummaryRequestIn(TypedDict):
    date: NotRequired[str | None]


class SummaryRequestOut(TypedDict):
    summary_id: str


class SyncAckIn(TypedDict):
    phase: Literal[3]


class SyncIn(TypedDict):
    pass


class SyncJobStartedOut(TypedDict):
    job_id: str
    status: Literal["queued", "processing", "completed", "partial_failure", "failed"]
    total_files: int
    total_segments: int
    poll_after_ms: int


class SyncResultOut(TypedDict):
    new_memories: list[str]
    updated_memories: list[str]
    failed_segments: int
    total_segments: int
    errors: list[str]


class SyncedChatOut(TypedDict):
    chat: SealedChatOut
    messages: list[SealedMessageOut]


class TaskIntegrationIn(TypedDict, extra_items=bool | int | str | None):
    connected: NotRequired[bool]


class TaskIntegrationsOut(TypedDict):
    integrations: dict[str, dict[str, bool | int | str | None]]
    default_app: str | None


TaskId: TypeAlias = str


class TaskShareIn(TypedDict):
    task_ids: list[TaskId]


class TaskShareOut(TypedDict):
    url: str
    token: str
    expires_at: str


class TasksCreatedOut(TypedDict):
    action_items: list[ProgramTaskOut]
    created_count: int


class TasksOut(TypedDict):
    tasks: list[AppTaskOut]


class TitleIn(TypedDict):
    title: str


class TitleOut(TypedDict):
    title: str


class TokenOut(TypedDict):
    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str
    scope: str


class ToolAnswered(TypedDict, closed=True):
    type: Literal["tool-output-available"]
    toolCallId: str
    output: str
    dynamic: Literal[True]
    providerExecuted: Literal[True]


class ToolFailed(TypedDict, closed=True):
    type: Literal["tool-output-error"]
    toolCallId: str
    errorText: str
    dynamic: Literal[True]
    providerExecuted: Literal[True]


class ToolGrantIn(TypedDict):
    kind: str
    id: str
    tool: str
    state: Literal["default", "always", "off"]
    pin: NotRequired[str | None]


class ToolGrantOut(TypedDict):
    source: Source
    maker: str
    tool: str
    description: str
    tool_class: Literal["read", "write", "sensitive"]
    allows_always: bool
    standing: Literal["known", "new", "changed"]
    pin: str
    state: Literal["default", "always", "off"]
    bits_today: float
    bits_limit: NotRequired[float]
    clean_bits_today: float
    clean_bits_limit: NotRequired[float]


class ToolOut(TypedDict):
    name: str
    description: str
    tool_class: Literal["read", "write", "sensitive"]
    pin: str


class ToolTimeOut(TypedDict):
    tool: str
    ms: float
    failed: bool


class TopicOut(TypedDict):
    title: str
    overview: str
    category: str


class TotalsOut(TypedDict):
    totalApps: int
    groupCount: int


class TranslationIn(TypedDict):
    lang: str
    text: str


class TranslationOut(TypedDict):
    lang: str
    text: str


class UploadOut(TypedDict):
    id: str
    length: int
    offset: int
    name: str
    media_type: str
    expires_at: str


class VersionIn(TypedDict):
    text: NotRequired[str | None]
    model: NotRequired[Literal["fast", "standard", "agent"] | None]


class VoiceIn(TypedDict):
    language: NotRequired[str | None]


class VoiceSessionIn(TypedDict):
    chat_session_id: NotRequired[str | None]
    sdp_offer: NotRequired[str]


class VoiceSessionOut(TypedDict):
    id: str
    chat_session_id: str
    status: Literal["active", "completed"]
    turn_count: int


class VoiceToolIn(TypedDict):
    name: str
    arguments: str
    user_text: NotRequired[str]


class VoiceToolOut(TypedDict):
    output: str


class VoiceTurnIn(TypedDict):
    item_id: str
    user_text: str
    assistant_text: str


class VoiceTurnOut(TypedDict):
    recorded: bool
    question_id: str
    answer_id: str
    crisis_plan: str | None


class VoicesData(TypedDict, closed=True):
    models: list[str]


class VoicesPart(TypedDict, closed=True):
    type: Literal["data-voices"]
    data: VoicesData
    transient: Literal[True]


class WebPushKeyOut(TypedDict):
    key: str


class WebhookUrlIn(TypedDict):
    url: str


class WebhookUrlOut(TypedDict):
    url: str
    signing_secret: str | None


class WebhooksStatusOut(TypedDict):
    memory_created: bool
    realtime_transcript: bool
    audio_bytes: bool
    day_summary: bool


class WholeConversationOut(TypedDict):
    id: str
    started_at: str
    finished_at: str
    structured: TopicOut
    language: str
    transcript_segments: list[SpokenOut]


class WrappedKeysOut(TypedDict):
    wrapped_keys: str


class FunctionsChatApiConfirmationRoutesDecisionIn(TypedDict):
    approved: bool
    always: NotRequired[bool]


class FunctionsLibraryProgramsOauthSchemasDecisionIn(TypedDict):
    request: AuthorizationIn
    allows: Literal["write", "read", "nothing"]


class FunctionsLibraryProgramsOauthSchemasDecisionOut(TypedDict):
    return_url: str


class FunctionsProcessConversationDaysSummarySchemasDecisionOut(TypedDict):
    decision: str
    conversation_id: str | None
    segment: int | None


class ActionItemHitsOut(TypedDict):
    action_items: list[ActionItemOut]
    has_more: bool


class ActionItemListOut(TypedDict):
    action_items: list[ActionItemOut]
    has_more: bool
    next_cursor: str | None
    total: int | None


class AnswerOut(TypedDict):
    answer: str
    sources: list[SourceOut]


class AppConversationOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    source: str
    language: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]
    discarded: bool
    structured: StructuredOut
    app_id: NotRequired[str | None]
    transcript_segments: list[AppSegmentOut]


class AppIn(TypedDict):
    description: NotRequired[str]
    category: NotRequired[str | None]
    capabilities: NotRequired[list[Capability]]
    external_integration: NotRequired[ExternalIntegrationIn | None]
    proactive_notification: NotRequired[ProactiveNotificationIn | None]
    private: NotRequired[bool]
    source_code_url: NotRequired[str | None]
    chat_prompt: NotRequired[str | None]
    memory_prompt: NotRequired[str | None]
    persona_prompt: NotRequired[str | None]
    persona_model: NotRequired[Literal["persona", "persona_premium"]]
    name: str
    is_paid: NotRequired[bool | None]
    allow_local: NotRequired[bool]


class AppOut(TypedDict):
    id: str
    name: str
    author: str
    description: str
    image: str
    uid: str | None
    category: str
    capabilities: list[str]
    approved: NotRequired[bool]
    status: NotRequired[Literal["approved"]]
    private: bool
    enabled: bool
    deleted: NotRequired[bool]
    created_at: str
    updated_at: str | None
    source_code_url: str | None
    chat_prompt: str | None
    memory_prompt: str | None
    external_integration: ExternalIntegrationOut
    proactive_notification: ProactiveNotificationOut | None
    chat_tools: list[ChatToolOut]
    installs: int
    is_popular: bool
    rating_avg: float
    rating_count: int
    reviews: list[ReviewOut]
    user_review: ReviewOut | None
    permissions: list[Literal["create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks", "hear_conversations", "hear_live_words", "hear_live_sound", "write_notifications"]]
    granted_permissions: list[Literal["create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks", "hear_conversations", "hear_live_words", "hear_live_sound", "write_notifications"]]
    switched_off: Deactivation | None
    webhook_off: Deactivation | None
    email: NotRequired[str | None]
    username: NotRequired[str | None]
    official: NotRequired[bool]
    usage_count: NotRequired[int]
    money_made: NotRequired[float]
    price: NotRequired[float]
    is_paid: NotRequired[bool]
    is_user_paid: NotRequired[bool]
    payment_plan: NotRequired[str | None]
    payment_link: NotRequired[str | None]
    thumbnails: NotRequired[list[str]]
    thumbnail_urls: NotRequired[list[str]]


class AppPageOut(TypedDict):
    data: list[AppOut]
    pagination: PaginationOut
    category: NotRequired[HeadingOut | None]
    capability: NotRequired[HeadingOut | None]
    filters: NotRequired[FiltersOut | None]


class AppPatchIn(TypedDict):
    description: NotRequired[str]
    category: NotRequired[str | None]
    capabilities: NotRequired[list[Capability]]
    external_integration: NotRequired[ExternalIntegrationIn | None]
    proactive_notification: NotRequired[ProactiveNotificationIn | None]
    private: NotRequired[bool]
    source_code_url: NotRequired[str | None]
    chat_prompt: NotRequired[str | None]
    memory_prompt: NotRequired[str | None]
    persona_prompt: NotRequired[str | None]
    persona_model: NotRequired[Literal["persona", "persona_premium"]]
    name: NotRequired[str | None]
    is_paid: NotRequired[bool | None]
    allow_local: NotRequired[bool]


class BegunVoiceSessionOut(TypedDict):
    id: str
    chat_session_id: str
    status: NotRequired[Literal["active"]]
    client_secret: NotRequired[ClientSecretOut | None]
    url: NotRequired[str | None]
    model: NotRequired[str | None]
    sdp_answer: NotRequired[str | None]


class CapabilityOut(TypedDict):
    id: str
    title: str
    triggers: list[ChoiceOut]
    scopes: list[ChoiceOut]
    actions: list[ChoiceOut]


class CardOut(TypedDict):
    id: str
    created_at: str
    structured: CardStructuredOut
    words_hash: str | None


class CategoryGroupOut(TypedDict):
    category: HeadingOut
    data: list[AppOut]
    count: int


class ChartOut(TypedDict):
    chart_type: Literal["line", "bar"]
    title: str
    x_label: str | None
    y_label: str | None
    datasets: list[DatasetOut]


class ChartPart(TypedDict, closed=True):
    type: Literal["data-chart"]
    id: Literal["chart"]
    data: ChartOut


class ChatHitOut(TypedDict):
    chat: SessionOut
    message: FoundMessageOut | None


class ChatHitsOut(TypedDict):
    items: list[ChatHitOut]
    next_cursor: str | None


class CiphertextsIn(TypedDict):
    chat: NotRequired[CiphertextIn | None]
    messages: NotRequired[list[SealedMessageIn]]


class CiphertextsOut(TypedDict):
    chat: SealedChatOut
    messages: list[SealedMessageOut]
    next_cursor: str | None


class ConfirmationData(TypedDict, closed=True):
    id: str
    call_id: str
    tool: str
    source: ConfirmationSource
    arguments: Any
    maker: str
    question: str
    details: list[str]
    reason: Literal["sensitive", "first_use", "new_tool", "changed_tool", "disclosure", "private_text", "foreign_words"]
    allows_always: bool
    expires_at: str
    state: Literal["asked"] | Literal["approved", "always", "refused", "expired"]


class ConfirmationOut(TypedDict):
    id: str
    call_id: str
    tool: str
    source: Source
    maker: str
    question: str
    details: list[str]
    arguments: str
    reason: Literal["sensitive", "first_use", "new_tool", "changed_tool", "disclosure", "private_text", "foreign_words"]
    allows_always: bool
    expires_at: str
    state: Literal["asked"] | Literal["approved", "always", "refused", "expired"]


class ConfirmationPart(TypedDict, closed=True):
    type: Literal["data-confirmation"]
    id: str
    data: ConfirmationData


class ConversationSource(TypedDict, closed=True):
    placement: PlacementOut
    number: int
    created_at: str
    emoji: str


class ConversationsOut(TypedDict):
    conversations: list[AppConversationOut]


class DailySummaryOut(TypedDict):
    id: str
    date: str
    created_at: str
    headline: str
    overview: str
    day_emoji: str
    stats: DayStatsOut
    highlights: list[HighlightOut]
    action_items: list[DayTaskOut]
    unresolved_questions: list[QuestionOut]
    decisions_made: list[FunctionsProcessConversationDaysSummarySchemasDecisionOut]
    numbers: list[NumberOut]
    knowledge_nuggets: list[InsightOut]
    locations: list[DayPlaceOut]


class DayUsageOut(TypedDict):
    day: str
    turns: int
    models: list[RoleUsageOut]


class DetailsRequestOut(TypedDict):
    request_id: str
    requested_keys: list[Literal["memories:manual", "memories:system", "memories:interesting", "settings:own_names", "settings:place"]]
    responses: dict[Literal["memories:manual", "memories:system", "memories:interesting", "settings:own_names", "settings:place"], DetailsResponseOut]
    created_at: str


class DeveloperConversationOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    structured: StructuredOut
    language: str
    source: str
    folder_id: str | None
    folder_name: NotRequired[str | None]


class DeveloperMemoriesIn(TypedDict):
    memories: list[DeveloperMemoryIn]


class DeveloperSegmentsIn(TypedDict):
    started_at: NotRequired[str | None]
    finished_at: NotRequired[str | None]
    language: NotRequired[str]
    transcript_segments: list[DeveloperSegmentIn]
    source: NotRequired[str]
    geolocation: NotRequired[GeolocationIn | None]
    client_session_id: NotRequired[str | None]


class DeveloperTextIn(TypedDict):
    started_at: NotRequired[str | None]
    finished_at: NotRequired[str | None]
    language: NotRequired[str]
    text: str
    text_source: NotRequired[Literal["audio_transcript", "message", "other_text"]]
    text_source_spec: NotRequired[str | None]
    geolocation: NotRequired[GeolocationIn | None]


class DiagnosticsOut(TypedDict):
    run_id: str
    trace_id: str
    request_id: str
    outcome: Literal["completed", "limited", "stopped", "interrupted", "failed"]
    path: Literal["simple", "tools", "persona"]
    route: NotRequired[Literal["answer", "crisis", "command", "lookup", "refusal"]]
    crisis_level: NotRequired[Literal[0, 1, 2, 3]]
    lookup: NotRequired[Literal["answered", "no_verified_answer"] | None]
    safety: SafetyOut
    model: str
    model_reason: NotRequired[Literal["persona", "question", "agent", "profile", "pictures", "size", "usual"] | None]
    model_attempts: NotRequired[int]
    fallback_model: NotRequired[str | None]
    prompt: str
    layers: NotRequired[dict[str, str]]
    cycles: int
    tools: NotRequired[list[ToolTimeOut]]
    input_tokens: NotRequired[int]
    cached_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost_micro_usd: NotRequired[int | None]
    unpriced_calls: NotRequired[int]
    reads: NotRequired[int]
    writes: NotRequired[int]
    ms: float
    stages: dict[str, float]
    retrieval_path: NotRequired[str | None]
    fallback_without_filters: NotRequired[bool]
    hits: NotRequired[int]
    citations: int
    window_tokens: NotRequired[int | None]
    tools_offered: NotRequired[int]
    tools_left_out: NotRequired[list[str]]
    blocks_left_out: NotRequired[list[str]]
    known: NotRequired[KnownOut | None]
    app_tools: NotRequired[int]
    app_tools_offered: NotRequired[int]
    masked: NotRequired[dict[str, int]]


class EmbedData(TypedDict, closed=True):
    embed_id: str
    type: Literal["tool_result", "record", "website", "place", "event", "code", "sheet", "image", "document"]
    call_id: str
    content_ref: str
    content_hash: str
    length: int
    preview: str
    version: int
    embed_ids: list[str] | None
    source: EmbedSource


class EmbedOut(TypedDict):
    id: str
    type: Literal["tool_result", "record", "website", "place", "event", "code", "sheet", "image", "document"]
    status: Literal["processing", "finished", "error", "cancelled"]
    content: Any
    preview: str
    content_hash: str
    length: int
    version: int
    embed_ids: list[str] | None
    parent_id: str | None
    chat_session_ids: list[str]
    message_id: str
    source: EmbedSourceOut
    created_at: str


class EmbedPart(TypedDict, closed=True):
    type: Literal["data-embed"]
    id: str
    data: EmbedData


class ExternalMemoryIn(TypedDict):
    text: NotRequired[str | None]
    text_source: NotRequired[Literal["email", "social_post", "other"]]
    text_source_spec: NotRequired[str | None]
    memories: NotRequired[list[FactIn] | None]


class FileSource(TypedDict, closed=True):
    placement: PlacementOut
    kind: Literal["file"]
    number: int
    page: int | None


class FinishChunk(TypedDict, closed=True):
    type: Literal["finish"]
    messageMetadata: FinishMetadata


class ImportedFileOut(TypedDict):
    number: int
    name: str
    status: Literal["kept", "question", "refused"]
    reason: str
    is_audio: bool
    is_kept_as_text: bool
    conversation_count: int
    conversations: list[ImportedConversationOut]
    memories: int
    action_items: int
    people: int
    records: NotRequired[dict[str, int]]
    not_taken: NotRequired[list[NotTakenOut]]
    left_out: list[LeftOutOut]


class MemoriesCreatedOut(TypedDict):
    memories: list[ProgramMemoryOut]
    created_count: int


class MessageOut(TypedDict):
    id: str
    text: str
    created_at: str
    sender: Literal["ai", "human"]
    app_id: str | None
    plugin_id: str | None
    from_external_integration: bool
    from_integration: bool
    type: Literal["text", "day_summary"]
    memories_id: list[str]
    memories: list[CardOut]
    reported: bool
    report_reason: str | None
    files_id: list[str]
    files: list[MessageFileOut]
    chat_session_id: str
    rating: Literal[1, -1] | None
    chart_data: ChartOut | None
    ask_for_nps: bool
    metadata: dict[str, Any]


class MessagePart(TypedDict, closed=True):
    type: Literal["data-message"]
    id: str
    data: MessageOut


class NotesOut(TypedDict):
    message_id: str
    follow_ups: list[str]
    next_steps: list[str]
    actions: list[SuggestedActionOut]
    new_categories: list[str]
    chat: SessionOut


class OwnMetadata(TypedDict, closed=True):
    placement: PlacementOut


class OwnedAppOut(TypedDict):
    id: str
    name: str
    author: str
    description: str
    image: str
    uid: str | None
    category: str
    capabilities: list[str]
    approved: NotRequired[bool]
    status: NotRequired[Literal["approved"]]
    private: bool
    enabled: bool
    deleted: NotRequired[bool]
    created_at: str
    updated_at: str | None
    source_code_url: str | None
    chat_prompt: str | None
    memory_prompt: str | None
    external_integration: ExternalIntegrationOut
    proactive_notification: ProactiveNotificationOut | None
    chat_tools: list[ChatToolOut]
    installs: int
    is_popular: bool
    rating_avg: float
    rating_count: int
    reviews: list[ReviewOut]
    user_review: ReviewOut | None
    permissions: list[Literal["create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks", "hear_conversations", "hear_live_words", "hear_live_sound", "write_notifications"]]
    granted_permissions: list[Literal["create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks", "hear_conversations", "hear_live_words", "hear_live_sound", "write_notifications"]]
    switched_off: Deactivation | None
    webhook_off: Deactivation | None
    email: NotRequired[str | None]
    username: NotRequired[str | None]
    official: NotRequired[bool]
    usage_count: NotRequired[int]
    money_made: NotRequired[float]
    price: NotRequired[float]
    is_paid: NotRequired[bool]
    is_user_paid: NotRequired[bool]
    payment_plan: NotRequired[str | None]
    payment_link: NotRequired[str | None]
    thumbnails: NotRequired[list[str]]
    thumbnail_urls: NotRequired[list[str]]
    app_id: str
    refused_tools: list[str]
    signing_secret: str
    retired_secret_until: str | None
    checked_at: str | None
    persona_prompt: str | None


class PartMetadata(TypedDict, closed=True):
    keepsake: OwnMetadata


class PartStart(TypedDict, closed=True):
    type: Literal["text-start", "reasoning-start"]
    id: str
    providerMetadata: PartMetadata


class PreferencesIn(TypedDict):
    enabled: NotRequired[bool]
    muted_apps: NotRequired[list[MutedApp]]
    quiet_hours: NotRequired[QuietHoursIn | None]
    digest: NotRequired[bool]
    digest_hour: NotRequired[int | None]


class PreferencesOut(TypedDict):
    enabled: bool
    muted_apps: list[str]
    quiet_hours: QuietHoursIn | None
    digest: bool
    digest_hour: int | None


class RequestEmbedsPart(TypedDict, closed=True):
    type: Literal["data-request-embeds"]
    data: RequestedEmbeds
    transient: Literal[True]


class ResentEmbedIn(TypedDict):
    id: str
    message_id: str
    call_id: str
    version: int
    type: Literal["tool_result", "record", "website", "place", "event", "code", "sheet", "image", "document"]
    content: str
    source: SourceIn
    embed_ids: NotRequired[list[EmbedId] | None]
    parent_id: NotRequired[str | None]


class SearchOut(TypedDict):
    conversations: list[AppConversationOut]
    total_pages: int
    current_page: int
    per_page: int


class SectionOut(TypedDict):
    capability: HeadingOut
    data: list[AppOut]
    pagination: PaginationOut


class SectionsOut(TypedDict):
    groups: list[SectionOut]


class SegmentIn(TypedDict):
    text: str
    speaker: NotRequired[str]
    is_user: NotRequired[bool]
    start: NotRequired[float]
    end: NotRequired[float]
    person_id: NotRequired[str | None]
    id: NotRequired[str | None]
    translations: NotRequired[list[TranslationIn]]


class SegmentOut(TypedDict):
    id: str
    text: str
    speaker: str
    speaker_id: int
    speaker_name: str | None
    is_user: bool
    person_id: str | None
    start: float
    end: float
    translations: list[TranslationOut]


class SendMessageIn(TypedDict):
    text: str
    model: NotRequired[Literal["fast", "standard", "agent"] | None]
    models: NotRequired[list[Literal["fast", "standard", "agent"]] | None]
    client_message_id: NotRequired[str | None]
    file_ids: NotRequired[list[str] | None]
    context: NotRequired[PageContextIn | None]
    follows: NotRequired[str | None]
    similar_chats: NotRequired[list[SimilarChatIn] | None]


class SharedChatOut(TypedDict):
    title: str
    shared_at: str
    messages: list[SharedMessageOut]
    is_complete: bool


class SharedConversationOut(TypedDict):
    created_at: str
    started_at: str
    finished_at: str
    language: str
    structured: SharedStructureOut
    transcript_segments: list[SharedSegmentOut]


class ShortConversationOut(TypedDict):
    id: str
    started_at: str
    finished_at: str
    structured: TopicOut
    language: str


class SourceMetadata(TypedDict, closed=True):
    keepsake: ConversationSource | FileSource


class SuggestedAppsOut(TypedDict):
    suggested_apps: list[AppOut]


class SyncJobOut(TypedDict):
    job_id: str
    status: Literal["queued", "processing", "completed", "partial_failure", "failed"]
    total_segments: int
    processed_segments: int
    successful_segments: int
    failed_segments: int
    result: SyncResultOut | None
    error: str | None


class SyncOut(TypedDict):
    chats: list[SyncedChatOut]
    cursor: str | None
    is_complete: bool


class ToolCalled(TypedDict, closed=True):
    type: Literal["tool-input-available"]
    toolCallId: str
    toolName: str
    input: Any
    dynamic: Literal[True]
    providerExecuted: Literal[True]
    providerMetadata: PartMetadata


class TranscribedConversationOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    structured: StructuredOut
    language: str
    source: str
    folder_id: str | None
    folder_name: NotRequired[str | None]
    transcript_segments: list[SegmentOut]


class TranscriptsOut(TypedDict):
    deepgram: list[SegmentOut]
    soniox: list[SegmentOut]
    whisperx: list[SegmentOut]
    speechmatics: list[SegmentOut]


class UsageOut(TypedDict):
    quotas: list[QuotaOut]
    days: NotRequired[list[DayUsageOut]]
    history: NotRequired[list[HistoryPointOut]]
    today: NotRequired[PeriodUsageOut | None]
    monthly: NotRequired[PeriodUsageOut | None]
    yearly: NotRequired[PeriodUsageOut | None]
    all_time: NotRequired[PeriodUsageOut | None]


class CapabilityGroupsOut(TypedDict):
    groups: list[CategoryGroupOut]
    capability: HeadingOut
    meta: TotalsOut


class ConversationIn(TypedDict):
    id: NotRequired[str | None]
    started_at: str | None
    finished_at: str | None
    source: NotRequired[str]
    language: NotRequired[str]
    transcript_segments: list[SegmentIn] | None
    photos: NotRequired[list[PhotoIn]]
    geolocation: NotRequired[GeolocationIn | None]
    external_data: NotRequired[dict[str, Any] | None]


class ConversationOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    source: str
    language: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]
    discarded: bool
    structured: StructuredOut
    failure: FailureOut | None
    waiting_since: str | None
    starred: bool
    app_id: str | None
    folder_id: str | None
    visibility: Literal["private", "shared"]
    geolocation: GeolocationOut | None
    external_data: dict[str, Any] | None
    photos: list[PhotoOut]
    apps_results: list[AppResultOut]
    suggested_summarization_apps: list[str]
    transcript_segments: list[SegmentOut]
    dropped_memories: dict[str, int]


class ConversationWithSoundOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    source: str
    language: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]
    discarded: bool
    structured: StructuredOut
    failure: FailureOut | None
    waiting_since: str | None
    starred: bool
    app_id: str | None
    folder_id: str | None
    visibility: Literal["private", "shared"]
    geolocation: GeolocationOut | None
    external_data: dict[str, Any] | None
    photos: list[PhotoOut]
    apps_results: list[AppResultOut]
    suggested_summarization_apps: list[str]
    transcript_segments: list[SegmentOut]
    dropped_memories: dict[str, int]
    audio_files: list[AudioFileOut]
    words_hash: str | None


class DailySummariesOut(TypedDict):
    summaries: list[DailySummaryOut]


class HitOut(TypedDict):
    id: str
    created_at: str
    started_at: str
    finished_at: str
    source: str
    language: str
    status: Literal["in_progress", "processing", "merging", "completed", "failed"]
    discarded: bool
    structured: StructuredOut
    failure: FailureOut | None
    waiting_since: str | None
    starred: bool
    app_id: str | None
    folder_id: str | None
    visibility: Literal["private", "shared"]
    geolocation: GeolocationOut | None
    external_data: dict[str, Any] | None
    photos: list[PhotoOut]
    apps_results: list[AppResultOut]
    suggested_summarization_apps: list[str]
    transcript_segments: list[SegmentOut]
    dropped_memories: dict[str, int]
    score: float | None
    passages: list[PassageOut]
    snippets: list[SnippetOut]


class ImportOut(TypedDict):
    id: str
    status: Literal["reading", "preview", "keeping", "completed"]
    conversation_count: int
    kept_count: int
    resumes_at: str | None
    waits_for: str
    created_at: str
    expires_at: str
    files: list[ImportedFileOut]
    speakers: list[SpeakerOut]
    asks_for_me: bool


class ResendIn(TypedDict):
    question: SendMessageIn
    messages: list[ResentMessageIn]
    embeds: NotRequired[list[ResentEmbedIn]]


class SourceCited(TypedDict, closed=True):
    type: Literal["source-document"]
    sourceId: str
    mediaType: str
    title: str
    filename: NotRequired[str]
    providerMetadata: SourceMetadata


VoiceChunk: TypeAlias = StartChunk | StepChunk | PartStart | PartDelta | PartEnd | ToolCalled | ToolAnswered | ToolFailed | SourceCited | StagePart | StatusPart | AnswerWithdrawnPart | ConfirmationPart | ConnectPart | ChangePart | ChartPart | EmbedPart | RequestEmbedsPart | FinishChunk | AbortChunk | ErrorChunk


class VoiceData(TypedDict, closed=True):
    voice: int
    chunk: VoiceChunk


class VoicePart(TypedDict, closed=True):
    type: Literal["data-voice"]
    data: VoiceData
    transient: Literal[True]


class ConversationHitsOut(TypedDict):
    items: list[HitOut]
    current_page: int
    total_pages: int
    fallback_without_filters: NotRequired[bool]


UiChunk: TypeAlias = StartChunk | StepChunk | PartStart | PartDelta | PartEnd | ToolCalled | ToolAnswered | ToolFailed | SourceCited | StagePart | StatusPart | AnswerWithdrawnPart | ConfirmationPart | ConnectPart | ChangePart | ChartPart | EmbedPart | RequestEmbedsPart | FinishChunk | AbortChunk | ErrorChunk | MessagePart | VoicesPart | VoicePart | HistoryRequestPart
