# The console, at the API's own address: its requests need no other origin, and streams pass as they come. A service of
# our image sends its files: organisations forbid buckets that everybody reads.

locals {
  # What the console asks of whoever signs in. Nothing in it is secret.
  console_config = merge(local.foundation.sign_in, {
    sign_in    = "firebase"
    authDomain = "${var.project}.firebaseapp.com"
  })
}

resource "google_service_account" "console" {
  account_id   = "keepsake-console"
  display_name = "Sends the console's files"
}

resource "google_cloud_run_v2_service" "console" {
  name                 = "console"
  location             = local.region
  ingress              = "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER"
  invoker_iam_disabled = true
  deletion_protection  = false
  template {
    service_account                  = google_service_account.console.email
    max_instance_request_concurrency = 80
    scaling {
      max_instance_count = 10
    }
    containers {
      image   = var.image
      command = ["python"]
      args    = ["-m", "infra.local.console_files", "--port=8080", "--config=${jsonencode(local.console_config)}"]
      ports {
        container_port = 8080
      }
      resources {
        limits            = { cpu = "1", memory = "512Mi" }
        cpu_idle          = true
        startup_cpu_boost = true
      }
    }
  }
}

resource "google_compute_region_network_endpoint_group" "console" {
  name                  = "console"
  region                = local.region
  network_endpoint_type = "SERVERLESS"
  cloud_run {
    service = google_cloud_run_v2_service.console.name
  }
}

# The page of the API has a policy of its own, so it has a backend of its own.
resource "google_compute_backend_service" "console" {
  for_each                = jsondecode(file("${path.module}/../../console_headers.json"))
  name                    = each.key == "**" ? "keepsake-console" : "keepsake${replace(replace(each.key, "/**", ""), "/", "-")}"
  load_balancing_scheme   = "EXTERNAL_MANAGED"
  protocol                = "HTTPS"
  security_policy         = google_compute_security_policy.public.id
  custom_response_headers = concat([local.strict_transport], [for key, value in each.value : "${key}: ${value}"])
  backend {
    group = google_compute_region_network_endpoint_group.console.id
  }
  log_config {
    enable = false
  }
}
