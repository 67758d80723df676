# What the account of each function may do beside its calls, which callers.tf grants.

locals {
  # Some read files that were handed in; the others also write or delete.
  blob_roles = merge({ for name in ["chat", "reindex_users"] : name => "roles/storage.objectViewer" }, {
    for name in ["apply_retention", "end_live", "erase_account", "expire_upload", "files", "import_files", "library", "listen", "process_conversation", "read_file", "transcribe_audio"] :
    name => "roles/storage.objectUser"
  })
  push_functions = ["deliver_notification", "deliver_digest"]
  signing_roles = {
    apps            = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    tool_proxy      = "roles/cloudkms.cryptoKeyDecrypter"
    deliver_webhook = "roles/cloudkms.cryptoKeyDecrypter"
    listen          = "roles/cloudkms.cryptoKeyDecrypter"
    # One seals the key of a wearable, the other opens it.
    library      = "roles/cloudkms.cryptoKeyEncrypter"
    import_files = "roles/cloudkms.cryptoKeyDecrypter"
  }
}

resource "google_project_iam_member" "reads_documents" {
  for_each = local.functions
  project  = var.project
  role     = "roles/datastore.user"
  member   = google_service_account.function[each.key].member
}

resource "google_project_iam_member" "sends_pushes" {
  for_each = toset(local.push_functions)
  project  = var.project
  role     = "roles/firebasecloudmessaging.admin"
  member   = google_service_account.function[each.key].member
}

# Revoked sessions are refused where something is exported or allowed; an erasure deletes the user.
resource "google_project_iam_member" "asks_about_sessions" {
  for_each = local.public
  project  = var.project
  role     = "roles/firebaseauth.viewer"
  member   = google_service_account.function[each.key].member
}

resource "google_project_iam_member" "deletes_users" {
  project = var.project
  role    = "roles/firebaseauth.admin"
  member  = google_service_account.function["erase_account"].member
}

resource "google_storage_bucket_iam_member" "keeps_blobs" {
  for_each = local.blob_roles
  bucket   = local.foundation.blobs_bucket
  role     = each.value
  member   = google_service_account.function[each.key].member
}

resource "google_kms_crypto_key_iam_member" "wraps_tokens" {
  for_each      = toset(local.token_functions)
  crypto_key_id = local.foundation.tokens_key
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = google_service_account.function[each.key].member
}

resource "google_kms_crypto_key_iam_member" "wraps_signing_secrets" {
  for_each      = local.signing_roles
  crypto_key_id = local.foundation.signing_key
  role          = each.value
  member        = google_service_account.function[each.key].member
}

resource "google_kms_crypto_key_iam_member" "wraps_data_keys" {
  for_each      = toset(local.sealing_functions)
  crypto_key_id = local.foundation.sealing_key
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = google_service_account.function[each.key].member
}
