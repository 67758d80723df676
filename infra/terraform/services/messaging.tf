# Events, tasks and the document trigger; the service account of Pub/Sub moves dead letters.

locals {
  subscriptions = merge([
    for topic, names in local.routes.topics : { for name in names : "${topic}.${name}" => { topic = topic, function = name } }
  ]...)
}

resource "google_pubsub_topic" "event" {
  for_each = local.routes.topics
  name     = each.key
}

resource "google_pubsub_topic" "dead_letters" {
  name = "dead_letters"
}

# What is given up is written down where operators find it: `make dead-letters`.
resource "google_pubsub_subscription" "dead_letters" {
  name                       = "dead_letters"
  topic                      = google_pubsub_topic.dead_letters.id
  ack_deadline_seconds       = 60
  message_retention_duration = "604800s"

  push_config {
    push_endpoint = local.urls[local.routes.dead_letters]
    oidc_token {
      service_account_email = google_service_account.call[local.delivery_accounts["dead_letters.${local.routes.dead_letters}"]].email
      audience              = local.routes.dead_letters
    }
  }
  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "600s"
  }
  expiration_policy {
    ttl = ""
  }
  depends_on = [google_cloud_run_v2_service_iam_member.call]
}

resource "google_pubsub_subscription" "event" {
  for_each             = local.subscriptions
  name                 = each.key
  topic                = google_pubsub_topic.event[each.value.topic].id
  ack_deadline_seconds = 600

  push_config {
    push_endpoint = local.urls[each.value.function]
    oidc_token {
      service_account_email = google_service_account.call[local.delivery_accounts[each.key]].email
      audience              = each.value.function
    }
  }
  retry_policy {
    minimum_backoff = "1s"
    maximum_backoff = "60s"
  }
  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.dead_letters.id
    max_delivery_attempts = 10
  }
  expiration_policy {
    ttl = ""
  }
  depends_on = [google_cloud_run_v2_service_iam_member.call, google_pubsub_topic_iam_member.buries]
}

resource "google_pubsub_topic_iam_member" "buries" {
  topic  = google_pubsub_topic.dead_letters.id
  role   = "roles/pubsub.publisher"
  member = local.foundation.pubsub_agent
}

resource "google_pubsub_subscription_iam_member" "takes_what_it_buries" {
  for_each     = google_pubsub_subscription.event
  subscription = each.value.id
  role         = "roles/pubsub.subscriber"
  member       = local.foundation.pubsub_agent
}

resource "google_cloud_tasks_queue" "queue" {
  for_each = local.queues
  name     = each.key
  location = local.region
  rate_limits {
    max_concurrent_dispatches = startswith(each.key, "keepsake-webhooks") ? 500 : 1000
  }
  retry_config {
    max_attempts = 10
    min_backoff  = "1s"
    max_backoff  = "60s"
  }
}

resource "google_eventarc_trigger" "document" {
  for_each = local.routes.triggers
  name     = local.services[each.value]
  # A trigger has to be where the database is, be it a region, nam5 or eur3; the function may be elsewhere.
  location                = local.foundation.firestore_location
  service_account         = google_service_account.call[local.delivery_accounts["${each.key}.${each.value}"]].email
  event_data_content_type = "application/protobuf"

  matching_criteria {
    attribute = "type"
    value     = "google.cloud.firestore.document.v1.written"
  }
  matching_criteria {
    attribute = "database"
    value     = local.foundation.database
  }
  matching_criteria {
    attribute = "document"
    value     = each.key
    operator  = "match-path-pattern"
  }
  destination {
    cloud_run_service {
      service = google_cloud_run_v2_service.function[each.value].name
      region  = local.region
    }
  }
  depends_on = [google_project_iam_member.receives_events, google_cloud_run_v2_service_iam_member.call]
}

resource "google_project_iam_member" "receives_events" {
  for_each = local.routes.triggers
  project  = var.project
  role     = "roles/eventarc.eventReceiver"
  member   = google_service_account.call[local.delivery_accounts["${each.key}.${each.value}"]].member
}
