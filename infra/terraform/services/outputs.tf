output "api_address" {
  description = "The address for the domain's A record."
  value       = google_compute_global_address.api.address
}

output "origin" {
  description = "Where console and API are."
  value       = "https://${local.foundation.domain}"
}

output "release" {
  value = var.release
}

output "image" {
  value = var.image
}

output "pinecone_sparse_host" {
  value = var.pinecone_sparse_host
}

output "pinecone_dense_host" {
  value = var.pinecone_dense_host
}

output "objectives" {
  value = var.objectives
}

output "canary" {
  value = var.canary
}

output "functions" {
  description = "The functions that have this release."
  value       = keys(google_cloud_run_v2_service.function)
}

output "function_settings" {
  description = "Settings of each function, and its secrets as gcloud takes them, for one that is deployed from source."
  value = {
    for name, _ in local.functions : name => {
      settings = merge(local.settings[name], { PYTHONPATH = "/workspace" })
      secrets  = join(",", [for secret, readers in local.secrets : "${secret}=${secret}:latest" if contains(readers, name)])
    }
  }
}

output "task_accounts" {
  description = "TASK_ACCOUNTS for `make dead-letters REPLAY=…`, which an operator runs with the right to act as them."
  value       = join(",", [for account, call in local.task_calls : "${call.function}=${google_service_account.call[account].email}"])
}
