# What ../services builds on; it reads them from the state of this stack.

output "project_number" {
  value = var.project_number
}

output "region" {
  value = var.region
}

output "firestore_location" {
  value = var.firestore_location
}

output "subnetwork" {
  value = google_compute_subnetwork.internal.id
}

output "domain" {
  value = var.domain
}

output "image_repository" {
  value = "${var.region}-docker.pkg.dev/${var.project}/${google_artifact_registry_repository.images.name}"
}

output "build_account" {
  value = google_service_account.build.name
}

output "builds_bucket" {
  value = google_storage_bucket.builds.name
}

output "blobs_bucket" {
  value = google_storage_bucket.blobs.name
}

output "database" {
  value = google_firestore_database.documents.name
}

output "tokens_key" {
  value = google_kms_crypto_key.tokens.id
}

output "signing_key" {
  value = google_kms_crypto_key.signing.id
}

output "sealing_key" {
  value = google_kms_crypto_key.sealing.id
}

output "secrets" {
  description = "The secrets that need a value before the functions start."
  value       = sort(keys(google_secret_manager_secret.key))
}

output "oauth_clients" {
  value = var.oauth_clients
}

output "web_search" {
  value = var.web_search
}

output "pubsub_agent" {
  value = google_project_service_identity.agent["pubsub"].member
}

output "notification_channel" {
  value = google_monitoring_notification_channel.operators.id
}

output "sign_in" {
  description = "What the console's config.json says; all of it is public."
  value = {
    apiKey         = nonsensitive(google_apikeys_key.console.key_string)
    providers      = var.sign_in_providers
    googleClientId = var.google_sign_in_client_id
    signUp         = var.sign_up
  }
}
