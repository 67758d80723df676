# Cloud Armor before everything public: one address cannot flood it. Quotas of users and apps are our own code.

resource "google_compute_security_policy" "public" {
  name = "keepsake"
  rule {
    description = "Slow down an address that sends too much, until it stops"
    priority    = 1000
    action      = "throttle"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = var.requests_per_minute
        interval_sec = 60
      }
    }
  }
  rule {
    description = "Let all others in"
    priority    = 2147483647
    action      = "allow"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }
}
