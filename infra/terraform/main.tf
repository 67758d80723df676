# Keepsake in one Google Cloud project. What is deployed is read from ../routes.json.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.0"
    }
    archive = {
      source  = "hashicorp/archive"
      version = "~> 2.4"
    }
  }
}

provider "google" {
  project = var.project
  region  = var.region
}

data "google_project" "this" {}

locals {
  functions = local.routes.functions
  public    = { for name, function in local.functions : name => function if function.access == "public" }
  internal  = { for name, function in local.functions : name => function if function.access == "internal" }
  # Cloud Run names hold no underscore; a service's URL is known before it exists.
  services = { for name, _ in local.functions : name => replace(name, "_", "-") }
  urls = {
    for name, service in local.services :
    name => "https://${service}-${data.google_project.this.number}.${var.region}.run.app"
  }
}

resource "google_project_service" "used" {
  for_each = toset([
    "artifactregistry", "cloudbuild", "cloudfunctions", "cloudkms", "cloudtasks", "compute", "dns", "eventarc",
    "fcm", "firestore", "iam", "pubsub", "run", "secretmanager", "storage",
  ])
  service            = "${each.key}.googleapis.com"
  disable_on_destroy = false
}
