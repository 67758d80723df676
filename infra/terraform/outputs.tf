output "api_address" {
  description = "The address for the domain's A record."
  value       = google_compute_global_address.api.address
}

output "function_urls" {
  description = "The URL of each function's own service."
  value       = local.urls
}

output "task_accounts" {
  description = "TASK_ACCOUNTS for `make dead-letters REPLAY=…`, which an operator runs with the right to act as them."
  value       = join(",", [for account, call in local.task_calls : "${call.function}=${google_service_account.call[account].email}"])
}
