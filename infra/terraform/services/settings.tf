# Settings of each function, all plain values: tests evaluate them and compare them with shared/settings.py.

locals {
  urls = {
    for name, service in local.services :
    name => "https://${service}-${local.foundation.project_number}.${local.region}.run.app"
  }
  # A queue dispatches 500 tasks a second: the name of a task decides in which of them it is.
  queue_shards = {
    for kind in ["keepsake", "keepsake-webhooks"] :
    kind => [for n in range(var.task_queues) : n == 0 ? kind : "${kind}-${n + 1}"]
  }
  queues = {
    for queue in flatten(values(local.queue_shards)) :
    queue => "projects/${var.project}/locations/${local.region}/queues/${queue}"
  }
  account_emails = {
    for account, _ in local.calls : account => "${account}@${var.project}.iam.gserviceaccount.com"
  }

  # These build the same dependencies and so are told both keys; which of them may use which, rights.tf says.
  key_functions   = ["apps", "deliver_webhook", "listen", "on_conversation_processed", "tool_proxy"]
  token_functions = ["apps", "tool_proxy"]
  # They build what seals the key of a wearable.
  wearable_functions = ["import_files", "library", "mcp"]
  # Who opens the documents of sealed chats.
  sealing_functions = ["chat", "close_run"]

  # They ask models for answers; others ask for vectors or texts of speech alone.
  asking_functions = ["after_turn", "chat", "deliver_webhook", "end_stretch", "library", "process_conversation", "summarise_day"]

  common_settings = {
    KEEPSAKE_WORLD       = "cloud"
    GOOGLE_CLOUD_PROJECT = var.project
    PUBLIC_URL           = "https://${local.foundation.domain}"
    OWN_ORIGINS          = join(",", concat(["https://${local.foundation.domain}"], values(local.urls)))
    PINECONE_SPARSE_HOST = var.pinecone_sparse_host
    PINECONE_DENSE_HOST  = var.pinecone_dense_host
    BLOBS_BUCKET         = local.foundation.blobs_bucket
    TOOL_PROXY_URL       = local.urls["tool_proxy"]
    # So many instances ask models at the most.
    TOKEN_INSTANCES = tostring(sum([for name in local.asking_functions : local.sizes[name].max_instances]))
    WEB_SEARCH      = local.foundation.web_search
    # Eventarc asks for a token for the service's URL and cannot be told another audience.
    SERVICE_AUDIENCES = join(",", [for name in values(local.routes.triggers) : "${name}=${local.urls[name]}"])
  }
  # What shared/settings.py knows beyond these, an operator may set for all functions.
  optional_settings = toset(concat(
    ["CACHE_MARKS", "CORS_ORIGINS", "FALLBACK_BASE_URL", "FALLBACK_MODELS", "FLEX_PROCESSING", "HARM_LIMIT", "HARM_THRESHOLD", "INJECTION_THRESHOLD", "LINK_CHECKS", "MASKING", "MISUSE_THRESHOLD", "OPENAI_BASE_URL", "OPENROUTER_BASE_URL", "REALTIME_MODEL"],
    ["EMBEDDING_DIMENSIONS", "TOKENS_PER_MINUTE", "TOKEN_PRICES", "PINECONE_DENSE_HOSTS", "PINECONE_SPARSE_HOSTS", "TRANSCRIPTION_BASE_URL", "TRANSCRIPTION_MODEL", "LIVE_TRANSCRIPTION", "DEEPGRAM_BASE_URL", "MODEL_EMBEDDINGS", "OMI_DOCUMENTS"],
    ["BEE_BASE_URL", "LIMITLESS_BASE_URL", "OMI_BASE_URL"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER_ARG"],
    flatten([for role in ["AGENT", "FAST", "PERSONA", "PERSONA_PREMIUM", "READER", "STANDARD"] : ["MODEL_${role}", "MODEL_${role}_WINDOW"]]),
    [for quota in ["FILE_SECONDS", "FOLLOWERS", "INGESTED_BYTES", "LIVE_CALLS", "OUTBOUND_CALLS", "READING_TOKENS", "RECORDED_SECONDS", "RENEWALS", "SOUND_BYTES", "STORED_BYTES", "TOKENS", "TURNS"] : "QUOTA_${quota}"],
  ))

  settings = {
    for name, _ in local.functions : name => merge(
      var.settings,
      local.common_settings,
      contains(local.key_functions, name) ? {
        KMS_KEY         = local.foundation.tokens_key
        SIGNING_KMS_KEY = local.foundation.signing_key
      } : {},
      contains(local.wearable_functions, name) ? { SIGNING_KMS_KEY = local.foundation.signing_key } : {},
      contains(local.sealing_functions, name) ? { SEALING_KMS_KEY = local.foundation.sealing_key } : {},
      contains(local.token_functions, name) ? { for provider, id in local.foundation.oauth_clients : "${upper(provider)}_CLIENT_ID" => id } : {},
      # A task calls an internal function at its URL, as the account of this call.
      {
        TASKS_QUEUE   = join(",", [for queue in local.queue_shards[local.queue_names[name]] : local.queues[queue]])
        TASK_ACCOUNTS = join(",", [for function, account in local.task_accounts[name] : "${function}=${local.account_emails[account]}"])
        FUNCTION_URLS = join(",", [for function, _ in local.task_accounts[name] : "${function}=${local.urls[function]}"])
      },
    )
  }
}
