# What a project needs before Keepsake can run in it, and what holds its data: APIs, image repository, secrets,
# documents, files, keys, sign-in. It outlives a `make destroy`, which takes ../services away alone.

terraform {
  required_version = ">= 1.9"
  backend "gcs" {
    prefix = "foundation"
  }
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.50"
    }
    google-beta = {
      source  = "hashicorp/google-beta"
      version = "~> 6.50"
    }
  }
}

# Some APIs count requests against the project that is named here, not against that of whoever signed in.
provider "google" {
  project               = var.project
  region                = var.region
  billing_project       = var.project
  user_project_override = true
}

provider "google-beta" {
  project               = var.project
  region                = var.region
  billing_project       = var.project
  user_project_override = true
}

locals {
  # `make deploy` enables the first five, without which Terraform can ask for nothing.
  apis = [
    "cloudbilling", "cloudresourcemanager", "iam", "serviceusage", "storage",
    "apikeys", "artifactregistry", "billingbudgets", "cloudbuild", "cloudkms", "cloudscheduler", "cloudtasks",
    "compute", "dns", "eventarc", "fcm", "firebase", "firebaseappcheck", "firebaserules", "firestore", "identitytoolkit", "iamcredentials", "logging",
    "monitoring", "pubsub", "run", "secretmanager", "securetoken",
  ]
  # Their accounts are made with their first use, which would be too late for the rights that they need.
  agents = ["eventarc", "pubsub"]
}

resource "google_project_service" "used" {
  for_each           = toset(local.apis)
  service            = "${each.key}.googleapis.com"
  disable_on_destroy = false
}

resource "google_project_service_identity" "agent" {
  for_each   = toset(local.agents)
  provider   = google-beta
  service    = "${each.key}.googleapis.com"
  depends_on = [google_project_service.used]
}

resource "google_project_iam_member" "delivers_triggers" {
  project = var.project
  role    = "roles/eventarc.serviceAgent"
  member  = google_project_service_identity.agent["eventarc"].member
}
