output "api_address" {
  description = "The address for the domain's A record."
  value       = google_compute_global_address.api.address
}

output "function_urls" {
  description = "The URL of each function's own service."
  value       = local.urls
}
