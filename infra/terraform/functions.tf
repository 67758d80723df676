# One function for each entry point of routes.json, each with an account of its own.

data "archive_file" "source" {
  type        = "zip"
  source_dir  = "${path.module}/../.."
  output_path = "${path.module}/.build/source.zip"
  excludes = [
    ".cache", ".git", ".hypothesis", ".keepsake", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv",
    "docs/apps.png", "docs/architecture.md", "docs/bench.md", "docs/compatibility.md", "docs/console.png", "docs/features.md",
    "docs/glossary.md", "docs/import.png", "docs/openapi.json", "docs/phone.png", "docs/reliability.md", "docs/retrieval.svg",
    "docs/search.png", "infra/bench", "infra/emulators", "infra/local", "infra/terraform", "tests", "web",
  ]
}

resource "google_storage_bucket" "source" {
  name                        = "${var.project}-functions-source"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
}

resource "google_storage_bucket_object" "source" {
  name   = "source-${data.archive_file.source.output_sha256}.zip"
  bucket = google_storage_bucket.source.name
  source = data.archive_file.source.output_path
}

resource "google_service_account" "function" {
  for_each     = local.services
  account_id   = "fn-${substr(each.value, 0, 27)}"
  display_name = "Runs ${each.key}"
}

resource "google_project_iam_member" "reads_documents" {
  for_each = local.functions
  project  = var.project
  role     = "roles/datastore.user"
  member   = google_service_account.function[each.key].member
}

resource "google_project_iam_member" "sends_pushes" {
  for_each = toset(["deliver_notification", "deliver_digest"])
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

resource "google_cloudfunctions2_function" "function" {
  for_each = local.functions
  name     = local.services[each.key]
  location = var.region

  build_config {
    runtime     = "python311"
    entry_point = each.key
    # The whole repository is the source: the framework finds the entry point in its folder.
    environment_variables = { GOOGLE_FUNCTION_SOURCE = each.value.source }
    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source.name
      }
    }
  }

  service_config {
    service_account_email = google_service_account.function[each.key].email
    # Imported files are read by two processes beside the service, of up to 1.5 GiB each.
    available_memory = contains(["files", "import_files", "library", "read_file"], each.key) ? "4Gi" : "512Mi"
    available_cpu    = "1"
    # An answer may wait ten minutes for its owner, beside its own time.
    timeout_seconds                  = each.key == "chat" ? 900 : 540
    max_instance_count               = var.max_instances
    max_instance_request_concurrency = 40
    ingress_settings                 = local.ingress[each.key]
    all_traffic_on_latest_revision   = true

    environment_variables = merge(local.accounts[each.key], {
      KEEPSAKE_WORLD       = "cloud"
      PYTHONPATH           = "/workspace"
      GOOGLE_CLOUD_PROJECT = var.project
      PINECONE_SPARSE_HOST = var.pinecone_sparse_host
      PINECONE_DENSE_HOST  = var.pinecone_dense_host
      BLOBS_BUCKET         = google_storage_bucket.blobs.name
      FALLBACK_MODELS      = var.fallback_models
      TOOL_PROXY_URL       = local.urls["tool_proxy"]
      OWN_ORIGINS          = join(",", concat(["https://${var.domain}"], values(local.urls)))
      CORS_ORIGINS         = var.console_origin
      # Eventarc asks for a token for the service's URL and cannot be told another audience.
      SERVICE_AUDIENCES = join(",", [for name in values(local.routes.triggers) : "${name}=${local.urls[name]}"])
      # A task calls an internal function at its URL, as the account of this call.
      TASKS_QUEUE   = local.queues[local.queue_names[each.key]].id
      TASK_ACCOUNTS = join(",", [for name, account in local.task_accounts[each.key] : "${name}=${google_service_account.call[account].email}"])
      FUNCTION_URLS = join(",", [for name in keys(local.task_accounts[each.key]) : "${name}=${local.urls[name]}"])
    })

    dynamic "secret_environment_variables" {
      for_each = { for secret, readers in local.secrets : secret => readers if contains(readers, each.key) }
      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = google_secret_manager_secret.key[secret_environment_variables.key].secret_id
        version    = "latest"
      }
    }
  }

  depends_on = [google_project_service.used, google_secret_manager_secret_iam_member.reader]
}

# What the functions API cannot say of the service behind a function: a chat's run may outlive its
# connection and needs its CPU until it is stored; an internal function is called by its name; who
# calls one goes through our network.
locals {
  network_flags = "--network=${google_compute_network.internal.name} --subnet=${google_compute_subnetwork.internal.name} --vpc-egress=private-ranges-only"
  service_flags = {
    for name, function in local.functions : name => join(" ", compact([
      function.access == "internal" ? "--add-custom-audiences=${name}" : "",
      try(function.streaming, false) ? "--no-cpu-throttling" : "",
      contains(local.direct_callers, name) ? local.network_flags : "",
    ]))
  }
}

resource "terraform_data" "service" {
  for_each         = { for name, flags in local.service_flags : name => flags if flags != "" }
  triggers_replace = [google_cloudfunctions2_function.function[each.key].update_time]

  provisioner "local-exec" {
    command = "gcloud run services update ${local.services[each.key]} --project=${var.project} --region=${var.region} ${each.value}"
  }
}

# Public functions verify their callers themselves; internal ones are for our own accounts.
resource "google_cloud_run_service_iam_member" "public" {
  for_each = local.public
  location = var.region
  service  = google_cloudfunctions2_function.function[each.key].name
  role     = "roles/run.invoker"
  member   = "allUsers"
}
