# One origin for console and API, which passes streams on as they come.

resource "google_compute_region_network_endpoint_group" "function" {
  for_each              = local.public
  name                  = local.services[each.key]
  region                = local.region
  network_endpoint_type = "SERVERLESS"
  cloud_run {
    service = google_cloud_run_v2_service.function[each.key].name
  }
}

resource "google_compute_backend_service" "function" {
  for_each                = local.public
  name                    = local.services[each.key]
  load_balancing_scheme   = "EXTERNAL_MANAGED"
  protocol                = "HTTPS"
  security_policy         = google_compute_security_policy.public.id
  custom_response_headers = [local.strict_transport]
  backend {
    group = google_compute_region_network_endpoint_group.function[each.key].id
  }
  # Old apps write content into addresses (`?title=…`), and these would stand in its log.
  log_config {
    enable = false
  }
}

locals {
  strict_transport = "Strict-Transport-Security: max-age=63072000; includeSubDomains"
  # A name in braces is one segment of a path: `*`; `**` stands as it is.
  all_templates = flatten([
    for name, function in local.public : [
      for route in function.paths : { function = name, template = replace(route, "/\\{[^}]*\\}/", "*") }
    ]
  ])
  # What names its path stands before what would match it too.
  templates = concat(
    [for row in local.all_templates : row if !strcontains(row.template, "*")],
    [for row in local.all_templates : row if strcontains(row.template, "*")],
  )
}

# An unknown host is answered 404 here; what is no path of the API is a file of the console, or 404 there.
resource "google_compute_url_map" "api" {
  name            = "keepsake"
  default_service = google_compute_backend_service.function["chat"].id
  default_route_action {
    fault_injection_policy {
      abort {
        http_status = 404
        percentage  = 100
      }
    }
  }

  host_rule {
    hosts        = [local.foundation.domain]
    path_matcher = "routes"
  }

  path_matcher {
    name            = "routes"
    default_service = google_compute_backend_service.console["**"].id

    dynamic "route_rules" {
      for_each = local.templates
      content {
        priority = route_rules.key + 1
        service  = google_compute_backend_service.function[route_rules.value.function].id
        match_rules {
          path_template_match = route_rules.value.template
        }
      }
    }

    dynamic "route_rules" {
      for_each = [for source in keys(google_compute_backend_service.console) : source if source != "**"]
      content {
        priority = length(local.templates) + route_rules.key + 1
        service  = google_compute_backend_service.console[route_rules.value].id
        match_rules {
          path_template_match = route_rules.value
        }
      }
    }
  }
}

resource "google_compute_global_address" "api" {
  name = "keepsake"
}

resource "google_compute_managed_ssl_certificate" "api" {
  name = "keepsake"
  managed {
    domains = [local.foundation.domain]
  }
}

resource "google_compute_ssl_policy" "api" {
  name            = "keepsake"
  profile         = "MODERN"
  min_tls_version = "TLS_1_2"
}

resource "google_compute_target_https_proxy" "api" {
  name             = "keepsake"
  url_map          = google_compute_url_map.api.id
  ssl_certificates = [google_compute_managed_ssl_certificate.api.id]
  ssl_policy       = google_compute_ssl_policy.api.id
}

# Who types the address without https is sent on; nothing is served without.
resource "google_compute_url_map" "redirect" {
  name = "keepsake-redirect"
  default_url_redirect {
    https_redirect         = true
    redirect_response_code = "MOVED_PERMANENTLY_DEFAULT"
    strip_query            = false
  }
}

resource "google_compute_target_http_proxy" "redirect" {
  name    = "keepsake-redirect"
  url_map = google_compute_url_map.redirect.id
}

resource "google_compute_global_forwarding_rule" "redirect" {
  name                  = "keepsake-redirect"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.api.id
  port_range            = "80"
  target                = google_compute_target_http_proxy.redirect.id
}

resource "google_compute_global_forwarding_rule" "api" {
  name                  = "keepsake"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.api.id
  port_range            = "443"
  target                = google_compute_target_https_proxy.api.id
}
