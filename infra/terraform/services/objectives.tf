# What people may expect, measured by the line that each request logs: objectives, their alerts and a dashboard.
# The fifth objective is that nothing is given up: the alert dead_letter of alerts.tf.

locals {
  # Lines with these values of these fields count; of a distribution, the field that is measured. docs/operate.md.
  log_metrics = {
    first_word = {
      lines = { message = ["request"], function = ["chat"], outcome = ["completed", "limited", "stopped"] }
      label = "path"
      value = "stages.first_token"
      unit  = "ms"
      # An objective counts what lies below a bound: its limit has to be one.
      buckets = [250, 500, 1000, 1500, 2000, 3000, 4500, 7000, 10000, 20000, 60000]
    }
    turns = {
      lines   = { message = ["request"], function = ["chat"], outcome = ["completed", "limited", "stopped", "interrupted", "failed"] }
      label   = "outcome"
      value   = null
      unit    = "1"
      buckets = []
    }
    processing_age = {
      lines   = { message = ["request"], function = ["process_conversation"], outcome = ["ok"] }
      label   = "function"
      value   = "age_ms"
      unit    = "ms"
      buckets = [5000, 15000, 30000, 60000, 120000, 300000, 900000, 3600000, 14400000, 86400000]
    }
    deliveries = {
      lines   = { message = ["request"], function = ["deliver_notification", "deliver_digest"] }
      label   = "outcome"
      value   = null
      unit    = "1"
      buckets = []
    }
    dead_letters = {
      lines   = { message = ["dead_letter"] }
      label   = "target"
      value   = null
      unit    = "1"
      buckets = []
    }
  }
  log_filters = {
    for name, metric in local.log_metrics : name => join(" AND ", concat(
      ["resource.type=\"cloud_run_revision\""],
      [for field, values in metric.lines : "jsonPayload.${field}=(${join(" OR ", [for value in values : "\"${value}\""])})"],
    ))
  }
  metric_types = {
    for name, _ in local.log_metrics : name => "metric.type=\"logging.googleapis.com/user/keepsake_${name}\" AND resource.type=\"cloud_run_revision\""
  }

  objectives = {
    first_word = {
      text   = "The first word of an answer comes within 3 seconds, for 95 of 100."
      goal   = 0.95
      metric = "first_word"
      max    = 3000
      good   = null
    }
    turn_success = {
      text   = "An answer ends as its owner wants or at a limit, for 99 of 100."
      goal   = 0.99
      metric = "turns"
      max    = null
      good   = ["completed", "limited", "stopped"]
    }
    processing_age = {
      text   = "A conversation is processed within 2 minutes of its last change, for 95 of 100."
      goal   = 0.95
      metric = "processing_age"
      max    = 120000
      good   = null
    }
    delivery = {
      text   = "An attempt to deliver a notification reaches who can be reached, for 99 of 100."
      goal   = 0.99
      metric = "deliveries"
      max    = null
      good   = ["ok"]
    }
  }
  # A tenth of what four weeks allow is used up in about seven hours at this rate.
  burn_rate = 10

  charts = concat(
    [for name, metric in local.log_metrics : {
      title   = "${name}, by ${metric.label}"
      filter  = local.metric_types[name]
      aligner = metric.value == null ? "ALIGN_RATE" : "ALIGN_PERCENTILE_95"
      reducer = metric.value == null ? "REDUCE_SUM" : "REDUCE_MAX"
      group   = "metric.label.${metric.label}"
    }],
    [
      {
        title   = "instances, by function"
        filter  = "metric.type=\"run.googleapis.com/container/instance_count\" AND resource.type=\"cloud_run_revision\""
        aligner = "ALIGN_MAX"
        reducer = "REDUCE_SUM"
        group   = "resource.label.service_name"
      },
      {
        title   = "age of the oldest event, by subscription"
        filter  = "metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\" AND resource.type=\"pubsub_subscription\""
        aligner = "ALIGN_MAX"
        reducer = "REDUCE_MAX"
        group   = "resource.label.subscription_id"
      },
    ],
  )
}

resource "google_logging_metric" "line" {
  for_each         = local.log_metrics
  name             = "keepsake_${each.key}"
  filter           = local.log_filters[each.key]
  label_extractors = { (each.value.label) = "EXTRACT(jsonPayload.${each.value.label})" }
  value_extractor  = each.value.value == null ? null : "EXTRACT(jsonPayload.${each.value.value})"
  dynamic "bucket_options" {
    for_each = each.value.value == null ? [] : [each.value.buckets]
    content {
      explicit_buckets {
        bounds = bucket_options.value
      }
    }
  }
  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = each.value.value == null ? "INT64" : "DISTRIBUTION"
    unit        = each.value.unit
    labels {
      key        = each.value.label
      value_type = "STRING"
    }
  }
}

resource "google_monitoring_custom_service" "keepsake" {
  service_id   = "keepsake"
  display_name = "Keepsake"
}

# Google knows a new metric after up to ten minutes: `make deploy` asks for objectives once it does.
resource "google_monitoring_slo" "objective" {
  for_each            = { for name, objective in local.objectives : name => objective if var.objectives }
  service             = google_monitoring_custom_service.keepsake.service_id
  slo_id              = replace(each.key, "_", "-")
  display_name        = each.value.text
  goal                = each.value.goal
  rolling_period_days = 28
  request_based_sli {
    dynamic "distribution_cut" {
      for_each = each.value.max == null ? [] : [each.value.max]
      content {
        distribution_filter = local.metric_types[each.value.metric]
        range {
          max = distribution_cut.value
        }
      }
    }
    dynamic "good_total_ratio" {
      for_each = each.value.good == null ? [] : [join(",", [for outcome in each.value.good : "\"${outcome}\""])]
      content {
        good_service_filter  = "${local.metric_types[each.value.metric]} AND metric.labels.outcome=one_of(${good_total_ratio.value})"
        total_service_filter = local.metric_types[each.value.metric]
      }
    }
  }
  depends_on = [google_logging_metric.line]
}

resource "google_monitoring_alert_policy" "objective" {
  for_each     = { for name, objective in local.objectives : name => objective if var.objectives }
  display_name = "Keepsake: ${each.key}"
  combiner     = "OR"
  conditions {
    display_name = each.key
    condition_threshold {
      filter          = "select_slo_burn_rate(\"${google_monitoring_slo.objective[each.key].name}\", \"3600s\")"
      comparison      = "COMPARISON_GT"
      threshold_value = local.burn_rate
      duration        = "0s"
    }
  }
  documentation {
    content = "${each.value.text} It was not so in the last hour. ${local.runbooks[each.key]}"
  }
  notification_channels = [local.foundation.notification_channel]
}

resource "google_monitoring_dashboard" "keepsake" {
  dashboard_json = jsonencode({
    displayName = "Keepsake"
    gridLayout = {
      columns = "2"
      widgets = [for chart in local.charts : {
        title = chart.title
        xyChart = {
          dataSets = [{
            plotType = "LINE"
            timeSeriesQuery = {
              timeSeriesFilter = {
                filter = chart.filter
                aggregation = {
                  alignmentPeriod    = "60s"
                  perSeriesAligner   = chart.aligner
                  crossSeriesReducer = chart.reducer
                  groupByFields      = [chart.group]
                }
              }
            }
          }]
        }
      }]
    }
  })
  depends_on = [google_logging_metric.line]
}
