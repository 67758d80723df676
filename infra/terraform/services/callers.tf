# One account for each call between functions, and no right beyond its call.

resource "google_service_account" "call" {
  for_each     = local.delivered_calls
  account_id   = each.key
  display_name = "${each.value.caller} calls ${each.value.function} by ${each.value.via}"
}

resource "google_cloud_run_v2_service_iam_member" "call" {
  for_each = local.calls
  location = local.region
  name     = google_cloud_run_v2_service.function[each.value.function].name
  role     = "roles/run.invoker"
  member = (
    each.value.via == "request"
    ? google_service_account.function[each.value.caller].member
    : google_service_account.call[each.key].member
  )
}

# A function names an account in the tasks that it creates: that of its own call, and no other.
resource "google_service_account_iam_member" "creates_tasks_as" {
  for_each           = local.task_calls
  service_account_id = google_service_account.call[each.key].name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.function[each.value.caller].member
}

resource "google_cloud_tasks_queue_iam_member" "creates_tasks" {
  for_each = local.queue_users
  name     = google_cloud_tasks_queue.queue[each.value.queue].name
  location = local.region
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.function[each.value.function].member
}

resource "google_pubsub_topic_iam_member" "publishes" {
  for_each = local.publishers
  topic    = google_pubsub_topic.event[each.value.topic].id
  role     = "roles/pubsub.publisher"
  member   = google_service_account.function[each.value.function].member
}
