# Uploaded files of users. What is deleted is gone at once: an erasure promises it.

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
