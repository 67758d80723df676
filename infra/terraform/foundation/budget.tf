# What a month may cost, and who hears of it. A budget of Google Cloud tells and stops nothing: what stops is
# max_instances of ../services, the quotas of each user, and the limit that is set with each model's provider.

resource "google_monitoring_notification_channel" "operators" {
  display_name = "Operators of Keepsake"
  type         = "email"
  labels       = { email_address = var.alert_email }
  depends_on   = [google_project_service.used]
}

resource "google_billing_budget" "month" {
  count           = var.monthly_budget > 0 ? 1 : 0
  billing_account = var.billing_account
  display_name    = "Keepsake in ${var.project}"
  budget_filter {
    projects = ["projects/${var.project_number}"]
  }
  amount {
    specified_amount {
      units = tostring(var.monthly_budget)
    }
  }
  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1.0]
    content {
      threshold_percent = threshold_rules.value
    }
  }
  threshold_rules {
    threshold_percent = 1.2
    spend_basis       = "FORECASTED_SPEND"
  }
  all_updates_rule {
    monitoring_notification_channels = [google_monitoring_notification_channel.operators.id]
  }
}
