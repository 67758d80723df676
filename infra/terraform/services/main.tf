# Keepsake's functions and what leads to them, in a project that ../foundation prepared. What is deployed is read
# from ../../routes.json.

terraform {
  required_version = ">= 1.9"
  backend "gcs" {
    prefix = "services"
  }
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.50"
    }
  }
}

provider "google" {
  project = var.project
  region  = local.region
}

data "terraform_remote_state" "foundation" {
  backend = "gcs"
  config = {
    bucket = var.state_bucket
    prefix = "foundation"
  }
}

locals {
  foundation = data.terraform_remote_state.foundation.outputs
  region     = local.foundation.region
}
