# Uploaded files of users. What is deleted is gone at once: an erasure promises it.

locals {
  blob_functions = ["files", "library", "read_file", "transcribe_audio", "process_conversation", "apply_retention", "expire_upload", "erase_account"]
}

resource "google_storage_bucket" "blobs" {
  name                        = "${var.project}-keepsake-blobs"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  soft_delete_policy {
    retention_duration_seconds = 0
  }

  lifecycle {
    prevent_destroy = true
  }

  depends_on = [google_project_service.used]
}

resource "google_storage_bucket_iam_member" "keeps_blobs" {
  for_each = toset(local.blob_functions)
  bucket   = google_storage_bucket.blobs.name
  role     = "roles/storage.objectUser"
  member   = google_service_account.function[each.key].member
}
