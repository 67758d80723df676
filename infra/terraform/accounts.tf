# Accounts that users connect: the key that wraps their tokens, for the two functions of tool_proxy alone.
# Beside it, the key that wraps the signing secrets of apps, for the functions that call apps.

locals {
  account_functions = ["apps", "tool_proxy"]
  account_settings  = { for provider, id in var.oauth_clients : "${upper(provider)}_CLIENT_ID" => id }
  # All four build the same dependencies, but only some may use the keys.
  key_functions = concat(local.account_functions, ["on_conversation_processed", "deliver_webhook"])
  key_settings = {
    KMS_KEY         = google_kms_crypto_key.tokens.id
    SIGNING_KMS_KEY = google_kms_crypto_key.signing.id
  }
  sealing_functions = ["chat", "close_run"]
  accounts = {
    for name, _ in local.functions : name => merge(
      # Links, and browsers that come back, lead to the console's origin, whose Hosting passes our paths on.
      { WEB_SEARCH = var.web_search, LINK_CHECKS = var.link_checks, HARM_LIMIT = var.harm_limit, PUBLIC_URL = var.console_origin },
      { for setting, value in local.key_settings : setting => value if contains(local.key_functions, name) },
      { for setting, value in { SEALING_KMS_KEY = google_kms_crypto_key.sealing.id } : setting => value if contains(local.sealing_functions, name) },
      { for setting, value in local.account_settings : setting => value if contains(local.account_functions, name) },
    )
  }
  account_secrets = merge(
    { for provider, _ in var.oauth_clients : "${upper(provider)}_CLIENT_SECRET" => local.account_functions },
    { for search in compact([var.web_search]) : "${upper(search)}_API_KEY" => ["tool_proxy"] },
  )
}

resource "google_kms_key_ring" "keepsake" {
  name       = "keepsake"
  location   = var.region
  depends_on = [google_project_service.used]
}

# Destroying it disconnects every account. New tokens are wrapped by its newest version.
resource "google_kms_crypto_key" "tokens" {
  name            = "tokens"
  key_ring        = google_kms_key_ring.keepsake.id
  purpose         = "ENCRYPT_DECRYPT"
  rotation_period = "7776000s"

  lifecycle {
    prevent_destroy = true
  }
}

resource "google_kms_crypto_key_iam_member" "wraps_tokens" {
  for_each      = toset(local.account_functions)
  crypto_key_id = google_kms_crypto_key.tokens.id
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = google_service_account.function[each.key].member
}

# Destroying it leaves apps without signatures that they can check.
resource "google_kms_crypto_key" "signing" {
  name            = "signing"
  key_ring        = google_kms_key_ring.keepsake.id
  purpose         = "ENCRYPT_DECRYPT"
  rotation_period = "7776000s"

  lifecycle {
    prevent_destroy = true
  }
}

resource "google_kms_crypto_key_iam_member" "wraps_signing_secrets" {
  for_each = {
    apps            = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    tool_proxy      = "roles/cloudkms.cryptoKeyDecrypter"
    deliver_webhook = "roles/cloudkms.cryptoKeyDecrypter"
  }
  crypto_key_id = google_kms_crypto_key.signing.id
  role          = each.value
  member        = google_service_account.function[each.key].member
}

# Destroying it, or a version of it, empties the cache of sealed chats: clients send their messages again.
resource "google_kms_crypto_key" "sealing" {
  name            = "sealing"
  key_ring        = google_kms_key_ring.keepsake.id
  purpose         = "ENCRYPT_DECRYPT"
  rotation_period = "7776000s"
}

resource "google_kms_crypto_key_iam_member" "wraps_data_keys" {
  for_each      = toset(local.sealing_functions)
  crypto_key_id = google_kms_crypto_key.sealing.id
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = google_service_account.function[each.key].member
}
