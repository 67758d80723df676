# What is called by the clock: the sweep, each minute.

resource "google_cloud_scheduler_job" "call" {
  for_each         = local.scheduled_calls
  name             = each.key
  description      = "Calls ${each.value.function}"
  region           = local.region
  schedule         = each.value.caller
  time_zone        = "Etc/UTC"
  attempt_deadline = "180s"

  http_target {
    uri         = local.urls[each.value.function]
    http_method = "POST"
    oidc_token {
      service_account_email = google_service_account.call[each.key].email
      audience              = each.value.function
    }
  }
  depends_on = [google_cloud_run_v2_service_iam_member.call]
}
