# Which function reads which secret of ../foundation.

locals {
  # Some ask models for answers, some for the vectors of what they index or search for.
  model_functions = [
    "after_turn", "apply_retention", "chat", "deliver_webhook", "end_stretch", "files", "import_files", "integrations", "library", "listen", "mcp",
    "process_conversation", "read_file", "reindex_users", "summarise_day", "transcribe_audio",
  ]
  index_functions = [
    "apply_retention", "chat", "end_stretch", "erase_account", "files", "import_files", "integrations", "library", "mcp",
    "process_conversation", "read_file", "reindex_users",
  ]
  wanted_secrets = merge(
    {
      OPENAI_API_KEY        = local.model_functions
      FALLBACK_API_KEY      = local.model_functions
      OPENROUTER_API_KEY    = ["chat"]
      TRANSCRIPTION_API_KEY = ["chat", "import_files", "library", "listen", "transcribe_audio"]
      DEEPGRAM_API_KEY      = ["listen"]
      PINECONE_API_KEY      = local.index_functions
      PSEUDONYM_KEY         = keys(local.functions)
      # Of Omi's backend, whose conversations a project may hold.
      OMI_ENCRYPTION_SECRET = keys(local.functions)
      # The key of a collector of traces.
      OTEL_EXPORTER_OTLP_HEADERS = keys(local.functions)
      # Each signs for which user one function calls the tool proxy.
      TOOL_CALL_KEYS  = ["after_turn", "chat", "tool_proxy"]
      DISCONNECT_KEYS = ["erase_account", "tool_proxy"]
      WEB_PUSH_KEY    = ["deliver_digest", "deliver_notification", "notifications"]
    },
    { for provider, _ in local.foundation.oauth_clients : "${upper(provider)}_CLIENT_SECRET" => local.token_functions },
    { for search in compact([local.foundation.web_search]) : "${upper(search)}_API_KEY" => ["tool_proxy"] },
  )
  # Optional ones are read where they were made.
  secrets = { for secret, readers in local.wanted_secrets : secret => readers if contains(local.foundation.secrets, secret) }
  secret_readers = merge([
    for secret, readers in local.secrets : { for reader in readers : "${secret}.${reader}" => { secret = secret, function = reader } }
  ]...)
}

resource "google_secret_manager_secret_iam_member" "reader" {
  for_each  = local.secret_readers
  secret_id = each.value.secret
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}
