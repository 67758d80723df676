# The console's files, at the API's own address: its requests need no other origin, and streams pass as they come.

locals {
  web           = "${path.module}/../../../web"
  console_files = toset([for file in fileset(local.web, "**") : file if file != "config.json"])
  media_types = {
    css         = "text/css"
    html        = "text/html"
    js          = "text/javascript"
    json        = "application/json"
    mjs         = "text/javascript"
    png         = "image/png"
    svg         = "image/svg+xml"
    webmanifest = "application/manifest+json"
  }
}

resource "google_storage_bucket" "console" {
  name                        = "${var.project}-console"
  location                    = local.region
  uniform_bucket_level_access = true
  force_destroy               = true
  website {
    main_page_suffix = "index.html"
  }
}

# Files are read by their names; nobody may list them.
resource "google_storage_bucket_iam_member" "reads_console" {
  bucket = google_storage_bucket.console.name
  role   = "roles/storage.legacyObjectReader"
  member = "allUsers"
}

resource "google_storage_bucket_object" "console" {
  for_each      = local.console_files
  bucket        = google_storage_bucket.console.name
  name          = each.key
  source        = "${local.web}/${each.key}"
  content_type  = lookup(local.media_types, reverse(split(".", each.key))[0], "text/plain")
  cache_control = "no-cache"
}

# The page of the API shows it.
resource "google_storage_bucket_object" "console_openapi" {
  bucket        = google_storage_bucket.console.name
  name          = "openapi.json"
  source        = "${path.module}/../../../docs/openapi.json"
  content_type  = "application/json"
  cache_control = "no-cache"
}

# What the console asks of whoever signs in. Nothing in it is secret.
resource "google_storage_bucket_object" "console_config" {
  bucket        = google_storage_bucket.console.name
  name          = "config.json"
  content_type  = "application/json"
  cache_control = "no-store"
  content = jsonencode(merge(local.foundation.sign_in, {
    sign_in    = "firebase"
    authDomain = "${var.project}.firebaseapp.com"
  }))
}

# The page of the API has a policy of its own, so it is a backend of its own over the same bucket.
resource "google_compute_backend_bucket" "console" {
  for_each                = { for source, headers in jsondecode(file("${path.module}/../../console_headers.json")) : source => headers }
  name                    = each.key == "**" ? "keepsake-console" : "keepsake${replace(replace(each.key, "/**", ""), "/", "-")}"
  bucket_name             = google_storage_bucket.console.name
  custom_response_headers = concat([local.strict_transport], [for key, value in each.value : "${key}: ${value}"])
}
