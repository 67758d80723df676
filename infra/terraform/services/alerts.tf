# What wakes somebody: each alert says where to read on. Its mails go to `alert_email` of ../foundation.

locals {
  # Each alert has a section of its name there.
  runbooks = {
    for alert in concat(keys(local.log_alerts), keys(local.metric_alerts), keys(local.objectives)) :
    alert => "See docs/operate.md#alert-${alert} of this release."
  }
  # What the platform refuses reaches no function: its own log of requests tells.
  refused_deliveries = join(" AND ", [
    "httpRequest.status=(401 OR 403)",
    "resource.labels.service_name=(${join(" OR ", [for name in setsubtract(keys(local.functions), keys(local.public)) : "\"${local.services[name]}\""])})",
  ])
  excluded_requests = "log_id(\"run.googleapis.com/requests\") AND NOT (${local.refused_deliveries})"
  log_alerts = {
    dead_letter = {
      text   = "Work was given up after ten attempts. `make dead-letters` lists it, with reasons."
      filter = local.log_filters["dead_letters"]
    }
    refused_delivery = {
      text   = "A delivery to an internal function was refused, by it or by the platform: conversations or tasks do not arrive."
      filter = "log_id(\"run.googleapis.com/requests\") AND ${local.refused_deliveries}"
    }
    error = {
      text   = "A function met something that it does not know. The log line names it; it holds no content."
      filter = "resource.type=\"cloud_run_revision\" AND severity>=ERROR"
    }
  }
  metric_alerts = {
    failed_requests = {
      text      = "More than one request a second failed by our fault, for five minutes."
      filter    = "resource.type = \"cloud_run_revision\" AND metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code_class = \"5xx\""
      aligner   = "ALIGN_RATE"
      reducer   = "REDUCE_SUM"
      threshold = 1
      duration  = "300s"
    }
    old_events = {
      text      = "The oldest event waits for more than ten minutes: conversations are processed late."
      filter    = "resource.type = \"pubsub_subscription\" AND metric.type = \"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
      aligner   = "ALIGN_MAX"
      reducer   = "REDUCE_MAX"
      threshold = 600
      duration  = "300s"
    }
    unreachable = {
      text      = "Console and API do not answer from outside."
      filter    = "resource.type = \"uptime_url\" AND metric.type = \"monitoring.googleapis.com/uptime_check/check_passed\" AND resource.labels.host = \"${local.foundation.domain}\""
      aligner   = "ALIGN_COUNT_FALSE"
      reducer   = "REDUCE_SUM"
      threshold = 2
      duration  = "300s"
    }
  }
}

resource "google_monitoring_alert_policy" "log" {
  for_each     = local.log_alerts
  display_name = "Keepsake: ${each.key}"
  combiner     = "OR"
  conditions {
    display_name = each.key
    condition_matched_log {
      filter = each.value.filter
    }
  }
  alert_strategy {
    notification_rate_limit {
      period = "3600s"
    }
  }
  documentation {
    content = "${each.value.text} ${local.runbooks[each.key]}"
  }
  notification_channels = [local.foundation.notification_channel]
}

resource "google_monitoring_alert_policy" "metric" {
  for_each     = local.metric_alerts
  display_name = "Keepsake: ${each.key}"
  combiner     = "OR"
  conditions {
    display_name = each.key
    condition_threshold {
      filter          = each.value.filter
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.threshold
      duration        = each.value.duration
      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = each.value.aligner
        cross_series_reducer = each.value.reducer
      }
    }
  }
  documentation {
    content = "${each.value.text} ${local.runbooks[each.key]}"
  }
  notification_channels = [local.foundation.notification_channel]
}

resource "google_monitoring_uptime_check_config" "console" {
  display_name = "Keepsake"
  timeout      = "10s"
  period       = "300s"
  http_check {
    path         = "/config.json"
    port         = 443
    use_ssl      = true
    validate_ssl = true
  }
  monitored_resource {
    type   = "uptime_url"
    labels = { project_id = var.project, host = local.foundation.domain }
  }
}

# The platform's own log of requests holds whole addresses, and old apps write content into these. Each
# function writes a line of its own for each request, without content; those of internal functions hold none.
resource "google_logging_project_exclusion" "addresses" {
  name        = "keepsake-addresses"
  description = "Addresses of requests may hold content."
  filter      = local.excluded_requests
}
