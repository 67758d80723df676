# Keys that wrap what documents hold wrapped: the tokens of connected accounts, and the signing secrets of apps.

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

# Destroying it, or a version of it, empties the cache of sealed chats: clients send their messages again.
resource "google_kms_crypto_key" "sealing" {
  name            = "sealing"
  key_ring        = google_kms_key_ring.keepsake.id
  purpose         = "ENCRYPT_DECRYPT"
  rotation_period = "7776000s"

  lifecycle {
    prevent_destroy = true
  }
}
