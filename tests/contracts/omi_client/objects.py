"""Objects that the released app reads, field by field."""

from tests.contracts.omi_client.readers import (
    anything,
    double,
    each,
    flag,
    integer,
    number,
    one_of,
    optional,
    shape,
    some,
    text,
    time,
)

_text = optional(text)
_flag = optional(flag, False)  # noqa: FBT003 - a default
_count = optional(integer, 0)
_time = optional(time)
_double = optional(double)

# --- conversations

STRUCTURED = shape(
    title=text,
    overview=text,
    emoji=text,
    category=text,
    action_items=some(shape(description=text, completed=_flag, deleted=_flag)),
    events=some(shape(title=text, start=time, duration=integer, description=_text, created=_flag)),
)
SEGMENT = shape(
    id=optional(text, ""),
    text=text,
    speaker=optional(text, "SPEAKER_00"),
    is_user=_flag,
    person_id=_text,
    start=anything,
    end=anything,
    translations=some(shape(lang=text, text=text)),
    speech_profile_processed=optional(flag, True),  # noqa: FBT003 - a default
    stt_provider=_text,
)
GEOLOCATION = shape(
    latitude=_double,
    longitude=_double,
    altitude=_double,
    accuracy=_double,
    google_place_id=_text,
    address=_text,
    location_type=_text,
    time=_time,
)
PHOTO = shape(id=_text, base64=_text, description=_text, created_at=_time, discarded=_flag)
CONVERSATION = shape(
    id=text,
    created_at=time,
    structured=STRUCTURED,
    started_at=_time,
    finished_at=_time,
    transcript_segments=some(SEGMENT),
    apps_results=some(shape(content=text, app_id=_text)),
    suggested_summarization_apps=some(text),
    geolocation=optional(GEOLOCATION),
    photos=some(PHOTO),
    audio_files=some(shape(id=_text, duration=optional(number), started_at=_time)),
    discarded=_flag,
    deleted=_flag,
    source=optional(text, "omi"),
    language=_text,
    external_data=optional(shape(text=_text)),
    status=optional(one_of("in_progress", "processing", "merging", "completed", "failed")),
    is_locked=_flag,
    starred=_flag,
    folder_id=_text,
    visibility=_text,
)
CONVERSATION_PAGE = shape(items=each(CONVERSATION), current_page=integer, total_pages=integer)
FOLDER = shape(
    id=text,
    name=text,
    description=_text,
    color=optional(text, "#6B7280"),
    icon=_text,
    created_at=_time,
    updated_at=_time,
    order=_count,
    is_default=_flag,
    is_system=_flag,
    category_mapping=_text,
    conversation_count=_count,
)

# --- chat

FILE = shape(
    id=text,
    openai_file_id=text,
    name=text,
    mime_type=text,
    created_at=time,
    thumbnail=_text,
    thumb_name=_text,
)
CHART = shape(
    chart_type=optional(text, "line"),
    title=_text,
    x_label=_text,
    y_label=_text,
    datasets=some(
        shape(label=_text, color=_text, data_points=some(shape(label=_text, value=number)))
    ),
)
MESSAGE = shape(
    id=text,
    created_at=time,
    text=_text,
    sender=one_of("ai", "human"),
    type=text,
    plugin_id=_text,
    from_integration=_flag,
    files=some(FILE),
    files_id=some(anything),
    memories=some(shape(id=text, created_at=time, structured=shape(title=text, emoji=text))),
    ask_for_nps=optional(flag, True),  # noqa: FBT003 - a default
    rating=optional(integer),
    chart_data=optional(CHART),
)

# --- library

MEMORY = shape(
    id=text,
    uid=text,
    content=text,
    category=_text,
    created_at=time,
    updated_at=time,
    conversation_id=_text,
    reviewed=_flag,
    user_review=optional(flag),
    manually_added=_flag,
    edited=_flag,
    deleted=_flag,
    visibility=_text,
    is_locked=_flag,
)
ACTION_ITEM = shape(
    id=text,
    description=text,
    completed=_flag,
    created_at=_time,
    updated_at=_time,
    due_at=_time,
    completed_at=_time,
    conversation_id=_text,
    is_locked=_flag,
    exported=_flag,
    export_date=_time,
    export_platform=_text,
    apple_reminder_id=_text,
    sort_order=_count,
    indent_level=_count,
)
ACTION_ITEM_PAGE = shape(action_items=each(ACTION_ITEM), has_more=flag)
PERSON = shape(
    id=text,
    name=text,
    created_at=time,
    updated_at=time,
    speech_samples=some(text),
    speech_sample_transcripts=some(text),
    speech_samples_version=optional(integer, 1),
)
GOAL = shape(
    id=text,
    title=text,
    goal_type=optional(one_of("boolean", "scale", "numeric")),
    target_value=optional(number),
    current_value=optional(number),
    min_value=optional(number),
    max_value=optional(number),
    unit=_text,
    is_active=optional(flag, True),  # noqa: FBT003 - a default
    created_at=_time,
    updated_at=_time,
)
DAILY_SUMMARY = shape(
    id=text,
    date=text,
    headline=text,
    overview=text,
    day_emoji=anything,
    created_at=time,
    stats=shape(
        total_conversations=integer, total_duration_minutes=integer, action_items_count=integer
    ),
    highlights=some(shape(topic=text, emoji=text, summary=text, conversation_ids=some(text))),
    action_items=some(
        shape(
            description=text,
            priority=one_of("high", "medium", "low"),
            source_conversation_id=_text,
            completed=_flag,
        )
    ),
    unresolved_questions=some(shape(question=text, conversation_id=_text)),
    decisions_made=some(shape(decision=text, conversation_id=_text)),
    knowledge_nuggets=some(shape(insight=text, conversation_id=_text)),
    locations=some(
        shape(latitude=double, longitude=double, address=_text, conversation_id=_text, time=_text)
    ),
)

# --- apps and keys

REVIEW = shape(
    uid=text,
    rated_at=time,
    score=double,
    review=text,
    username=_text,
    response=_text,
    updated_at=anything,
    responded_at=anything,
)
EXTERNAL_INTEGRATION = shape(
    triggers_on=_text,
    webhook_url=_text,
    setup_completed_url=_text,
    setup_instructions_file_path=_text,
    is_instructions_url=_flag,
    app_home_url=_text,
    chat_tools_manifest_url=_text,
    mcp_server_url=_text,
    auth_steps=some(shape(name=text, url=text)),
    actions=some(shape(action=text)),
)
CHAT_TOOL = shape(
    name=text,
    description=text,
    endpoint=text,
    method=optional(text, "POST"),
    auth_required=optional(flag, True),  # noqa: FBT003 - a default
    status_message=_text,
    is_mcp=_flag,
)
APP = shape(
    id=text,
    name=text,
    author=text,
    description=text,
    image=text,
    uid=_text,
    category=_text,
    approved=optional(flag, True),  # noqa: FBT003 - a default
    status=optional(one_of("approved", "under-review", "rejected")),
    email=_text,
    username=_text,
    capabilities=some(text),
    private=_flag,
    enabled=_flag,
    deleted=_flag,
    chat_prompt=_text,
    memory_prompt=_text,
    external_integration=optional(EXTERNAL_INTEGRATION),
    proactive_notification=optional(shape(scopes=each(anything))),
    chat_tools=some(CHAT_TOOL),
    reviews=some(REVIEW),
    user_review=optional(REVIEW),
    rating_avg=_double,
    rating_count=_count,
    installs=_count,
    usage_count=_count,
    money_made=_double,
    price=_double,
    is_paid=_flag,
    is_user_paid=_flag,
    payment_plan=_text,
    payment_link=_text,
    thumbnails=some(text),
    thumbnail_urls=some(text),
    is_popular=_flag,
    official=_flag,
    source_code_url=_text,
    created_at=_time,
    updated_at=_time,
    score=optional(number),
)
APP_KEY = shape(id=text, label=_text, created_at=time, secret=_text)
API_KEY = shape(
    id=text,
    name=text,
    key_prefix=text,
    created_at=time,
    last_used_at=_time,
    scopes=some(text),
    key=_text,
)
