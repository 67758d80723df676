# Which function reads which secret. The values are added by hand, so that no state holds them.

locals {
  secrets = merge(local.account_secrets, {
    OPENAI_API_KEY     = ["after_turn", "chat", "end_stretch", "files", "import_files", "integrations", "library", "mcp", "process_conversation", "read_file", "summarise_day", "transcribe_audio"]
    OPENROUTER_API_KEY = ["chat"]
    # Each signs for which user one function calls the tool proxy.
    TOOL_CALL_KEYS   = ["chat", "tool_proxy"]
    DISCONNECT_KEYS  = ["erase_account", "tool_proxy"]
    PSEUDONYM_KEY    = keys(local.functions)
    PINECONE_API_KEY = ["chat", "end_stretch", "files", "integrations", "library", "mcp", "process_conversation", "read_file"]
  })
}

resource "google_secret_manager_secret" "key" {
  for_each  = local.secrets
  secret_id = each.key
  replication {
    auto {}
  }
  depends_on = [google_project_service.used]
}

resource "google_secret_manager_secret_iam_member" "reader" {
  for_each = merge([
    for secret, readers in local.secrets : { for reader in readers : "${secret}.${reader}" => { secret = secret, function = reader } }
  ]...)
  secret_id = google_secret_manager_secret.key[each.value.secret].id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}
