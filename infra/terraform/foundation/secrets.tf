# Secrets, empty: `make deploy` adds their values, so that no state holds them.

locals {
  secrets = toset(concat(
    ["DISCONNECT_KEYS", "OPENAI_API_KEY", "PINECONE_API_KEY", "PSEUDONYM_KEY", "TOOL_CALL_KEYS", "WEB_PUSH_KEY"],
    [for provider, _ in var.oauth_clients : "${upper(provider)}_CLIENT_SECRET"],
    [for search in compact([var.web_search]) : "${upper(search)}_API_KEY"],
    var.optional_secrets,
  ))
}

resource "google_secret_manager_secret" "key" {
  for_each  = local.secrets
  secret_id = each.key
  replication {
    auto {}
  }
  depends_on = [google_project_service.used]
}
