# The console's files, at the API's own address: its requests need no other origin, and streams pass as they come.

locals {
  web           = "${path.module}/../../web"
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
  location                    = var.region
  uniform_bucket_level_access = true
  force_destroy               = true
  website {
    main_page_suffix = "index.html"
  }
}

resource "google_storage_bucket_iam_member" "reads_console" {
  bucket = google_storage_bucket.console.name
  role   = "roles/storage.objectViewer"
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

# What the console asks of whoever signs in. Nothing in it is secret.
resource "google_storage_bucket_object" "console_config" {
  bucket        = google_storage_bucket.console.name
  name          = "config.json"
  content_type  = "application/json"
  cache_control = "no-store"
  content = jsonencode({
    sign_in        = "firebase"
    apiKey         = var.firebase_api_key
    authDomain     = "${var.project}.firebaseapp.com"
    providers      = var.sign_in_providers
    googleClientId = var.google_sign_in_client_id
    signUp         = var.sign_up
  })
}

# The page of the API has a policy of its own, so it is a backend of its own over the same bucket.
resource "google_compute_backend_bucket" "console" {
  for_each    = { for row in jsondecode(file("${path.module}/../../firebase.json")).hosting.headers : row.source => row.headers }
  name        = each.key == "**" ? "keepsake-console" : "keepsake${replace(replace(each.key, "/**", ""), "/", "-")}"
  bucket_name = google_storage_bucket.console.name
  custom_response_headers = [
    for header in each.value : "${header.key}: ${header.value}" if header.key != "Cache-Control"
  ]
}
