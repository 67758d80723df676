# The one image of all functions, and the account that builds it: a new project has none that may.

resource "google_artifact_registry_repository" "images" {
  repository_id = "keepsake"
  location      = var.region
  format        = "DOCKER"
  docker_config {
    immutable_tags = true
  }
  # A rollback needs the images of the last releases.
  cleanup_policies {
    id     = "old"
    action = "DELETE"
    condition {
      older_than = "7776000s"
    }
  }
  cleanup_policies {
    id     = "last"
    action = "KEEP"
    most_recent_versions {
      keep_count = 20
    }
  }
  depends_on = [google_project_service.used]
}

resource "google_service_account" "build" {
  account_id   = "keepsake-build"
  display_name = "Builds the image of the functions"
  depends_on   = [google_project_service.used]
}

resource "google_artifact_registry_repository_iam_member" "pushes_images" {
  repository = google_artifact_registry_repository.images.name
  location   = var.region
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member
}

resource "google_project_iam_member" "writes_build_logs" {
  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.build.member
}

# The source of a build, which `gcloud builds submit` uploads.
resource "google_storage_bucket" "builds" {
  name                        = "${var.project}-keepsake-builds"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true
  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age = 7
    }
  }
  depends_on = [google_project_service.used]
}

resource "google_storage_bucket_iam_member" "reads_source" {
  bucket = google_storage_bucket.builds.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.build.member
}
