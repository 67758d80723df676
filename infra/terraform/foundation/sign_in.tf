# Who people are: Firebase Authentication, and the key by which the console asks it. The key is public by design.

resource "google_firebase_project" "this" {
  provider   = google-beta
  depends_on = [google_project_service.used]
}

resource "google_identity_platform_config" "sign_in" {
  authorized_domains = [var.domain, "${var.project}.firebaseapp.com"]
  sign_in {
    email {
      enabled           = contains(var.sign_in_providers, "password")
      password_required = true
    }
  }
  client {
    permissions {
      disabled_user_signup = !var.sign_up
    }
  }
  depends_on = [google_firebase_project.this]
}

resource "google_identity_platform_default_supported_idp_config" "google" {
  for_each      = toset([for provider in var.sign_in_providers : provider if provider == "google.com"])
  idp_id        = each.key
  client_id     = var.google_sign_in_client_id
  client_secret = var.google_sign_in_client_secret
  enabled       = true
  depends_on    = [google_identity_platform_config.sign_in]
}

# The console sends no referrer, by which the key could be bound to our domain; what it may ask is all that binds it.
resource "google_apikeys_key" "console" {
  name         = "keepsake-console"
  display_name = "Signs people in at the console"
  restrictions {
    api_targets {
      service = "identitytoolkit.googleapis.com"
    }
    api_targets {
      service = "securetoken.googleapis.com"
    }
  }
  depends_on = [google_project_service.used]
}

# Whether documents are served to attested apps alone. The apps have to be registered in Firebase first.
resource "google_firebase_app_check_service_config" "documents" {
  for_each         = toset(compact([var.app_check]))
  service_id       = "firestore.googleapis.com"
  enforcement_mode = each.key
  depends_on       = [google_firebase_project.this]
}
