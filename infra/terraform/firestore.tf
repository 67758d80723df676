# Documents; indexes and what expires are read from the file that the embedded store obeys too.

locals {
  index_file = jsondecode(file("${path.module}/../firestore.indexes.json"))
}

resource "google_firestore_database" "documents" {
  name                              = "(default)"
  location_id                       = var.firestore_location
  type                              = "FIRESTORE_NATIVE"
  point_in_time_recovery_enablement = "POINT_IN_TIME_RECOVERY_ENABLED"
  delete_protection_state           = "DELETE_PROTECTION_ENABLED"
  depends_on                        = [google_project_service.used]
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
}

# An override without indexes exempts its field; with `ttl`, documents go when its time has come.
resource "google_firestore_field" "override" {
  for_each = {
    for override in local.index_file.fieldOverrides :
    "${override.collectionGroup}.${override.fieldPath}" => override
  }
  database   = google_firestore_database.documents.name
  collection = each.value.collectionGroup
  field      = each.value.fieldPath

  index_config {}

  dynamic "ttl_config" {
    for_each = try(each.value.ttl, false) ? [true] : []
    content {}
  }
}
