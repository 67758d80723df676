# Documents; indexes and what expires are read from the file that the embedded store obeys too.

locals {
  index_file = jsondecode(file("${path.module}/../../firestore.indexes.json"))
  # Firestore builds a few indexes at a time, and of large collections for long.
  build_time = "90m"
}

resource "google_firestore_database" "documents" {
  name                              = "(default)"
  location_id                       = var.firestore_location
  type                              = "FIRESTORE_NATIVE"
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_ENABLED"
  delete_protection_state           = "DELETE_PROTECTION_ENABLED"

  lifecycle {
    prevent_destroy = true
  }

  depends_on = [google_project_service.used]
}

# One whose building outlasted an apply is known to Firestore alone: the next apply takes it over.
import {
  for_each = var.built_indexes
  to       = google_firestore_index.composite[each.key]
  id       = each.value
}

resource "google_firestore_index" "composite" {
  for_each    = { for index in local.index_file.indexes : jsonencode(index) => index }
  database    = google_firestore_database.documents.name
  collection  = each.value.collectionGroup
  query_scope = each.value.queryScope

  dynamic "fields" {
    for_each = each.value.fields
    content {
      field_path   = fields.value.fieldPath
      order        = try(fields.value.order, null)
      array_config = try(fields.value.arrayConfig, null)
    }
  }

  timeouts {
    create = local.build_time
  }
}

# The indexes of a field, none where it has none; with `ttl`, documents go when its time has come.
resource "google_firestore_field" "override" {
  for_each = {
    for override in local.index_file.fieldOverrides :
    "${override.collectionGroup}.${override.fieldPath}" => override if override.fieldPath != "*"
  }
  database   = google_firestore_database.documents.name
  collection = each.value.collectionGroup
  field      = each.value.fieldPath

  index_config {
    dynamic "indexes" {
      for_each = each.value.indexes
      content {
        order        = try(indexes.value.order, null)
        array_config = try(indexes.value.arrayConfig, null)
        query_scope  = indexes.value.queryScope
      }
    }
  }

  dynamic "ttl_config" {
    for_each = try(each.value.ttl, false) ? [true] : []
    content {}
  }

  timeouts {
    create = local.build_time
    update = local.build_time
  }
}

# All other fields of a collection have no index: they would cost a write each. What is queried has its own by then.
resource "google_firestore_field" "wildcard" {
  for_each = toset([
    for override in local.index_file.fieldOverrides : override.collectionGroup if override.fieldPath == "*"
  ])
  database   = google_firestore_database.documents.name
  collection = each.value
  field      = "*"
  index_config {}

  timeouts {
    create = local.build_time
    update = local.build_time
  }

  depends_on = [google_firestore_field.override]
}

# What clients may read and write by themselves. The new rules are there before the old ones go.
resource "google_firebaserules_ruleset" "documents" {
  source {
    files {
      name    = "firestore.rules"
      content = file("${path.module}/../../firestore.rules")
    }
  }
  lifecycle {
    create_before_destroy = true
  }
  depends_on = [google_firebase_project.this]
}

resource "google_firebaserules_release" "documents" {
  name         = "cloud.firestore"
  ruleset_name = "projects/${var.project}/rulesets/${google_firebaserules_ruleset.documents.name}"
  depends_on   = [google_firestore_database.documents]
}

# Beside every minute of the last seven days: a backup of each day for two weeks, and of each week for longer.
resource "google_firestore_backup_schedule" "daily" {
  database  = google_firestore_database.documents.name
  retention = "1209600s"
  daily_recurrence {}
}

resource "google_firestore_backup_schedule" "weekly" {
  database  = google_firestore_database.documents.name
  retention = "${var.backup_weeks * 604800}s"
  weekly_recurrence {
    day = "SUNDAY"
  }
}
