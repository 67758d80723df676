variable "project" {
  description = "The Google Cloud project."
  type        = string
}

variable "project_number" {
  description = "Its number, which `make deploy` looks up."
  type        = string
}

variable "region" {
  description = "Where functions run, and files, keys and images are kept."
  type        = string
}

variable "firestore_location" {
  description = "Where documents are kept; it cannot be changed later. A region, nam5 or eur3."
  type        = string
}

variable "subnet" {
  description = "The addresses of the functions that call internal ones, four an instance while a release replaces another: 8,188 of them."
  type        = string
  default     = "10.8.0.0/19"
}

variable "domain" {
  description = "The domain of console and API."
  type        = string
}

variable "alert_email" {
  description = "Who is told when something is wrong, and when the budget is used up."
  type        = string
}

variable "built_indexes" {
  description = "Key of an index of documents.tf → its name, of those that are there; `make deploy` looks them up."
  type        = map(string)
  default     = {}
}

variable "billing_account" {
  description = "The account that pays, which `make deploy` looks up."
  type        = string
}

variable "monthly_budget" {
  description = "The sum a month, in the currency of the billing account, at whose parts mails are sent; 0 for none. It stops nothing."
  type        = number
}

variable "backup_weeks" {
  description = "How many weeks a weekly backup of the documents is kept; an erasure is complete after them. Who was erased is known for 62 days, and a backup that is older could bring people back."
  type        = number
  default     = 4
  validation {
    condition     = var.backup_weeks >= 1 && var.backup_weeks <= 8
    error_message = "A backup is kept for 1 to 8 weeks: erasures are known for 62 days, and have to be repeated after a restore."
  }
}

variable "sign_in_providers" {
  description = "How people sign in: password, google.com, or both."
  type        = list(string)
  default     = ["password"]
  validation {
    condition     = length(var.sign_in_providers) > 0 && length(setsubtract(var.sign_in_providers, ["password", "google.com"])) == 0
    error_message = "People sign in by password, google.com, or both."
  }
}

variable "google_sign_in_client_id" {
  description = "The OAuth client for google.com; https://<domain>/ is one of its redirect URIs."
  type        = string
  default     = ""
  validation {
    condition     = var.google_sign_in_client_id != "" || !contains(var.sign_in_providers, "google.com")
    error_message = "Signing in with Google needs google_sign_in_client_id."
  }
}

variable "google_sign_in_client_secret" {
  description = "The secret of that client; pass it as TF_VAR_google_sign_in_client_secret. Terraform keeps it in its state."
  type        = string
  default     = ""
  sensitive   = true
}

variable "sign_up" {
  description = "Whether people may create accounts by themselves."
  type        = bool
  default     = false
}

variable "app_check" {
  description = "UNENFORCED counts apps that are not attested, ENFORCED refuses them their documents; empty asks none."
  type        = string
  default     = ""
  validation {
    condition     = contains(["", "UNENFORCED", "ENFORCED"], var.app_check)
    error_message = "App Check is UNENFORCED, ENFORCED, or empty."
  }
}

variable "oauth_clients" {
  description = "Provider (google, whoop, notion, x, github) → client id, of those whose accounts can be connected."
  type        = map(string)
  default     = {}
}

variable "web_search" {
  description = "perplexity, or empty: who searches the web."
  type        = string
  default     = ""
  validation {
    condition     = contains(["", "perplexity"], var.web_search)
    error_message = "The web is searched by perplexity, or not at all."
  }
}

variable "optional_secrets" {
  description = "Further keys that functions read: OPENROUTER_API_KEY, FALLBACK_API_KEY, TRANSCRIPTION_API_KEY, DEEPGRAM_API_KEY, OMI_ENCRYPTION_SECRET, OTEL_EXPORTER_OTLP_HEADERS."
  type        = list(string)
  default     = []
  validation {
    condition = length(setsubtract(
      var.optional_secrets, ["OPENROUTER_API_KEY", "FALLBACK_API_KEY", "TRANSCRIPTION_API_KEY", "DEEPGRAM_API_KEY", "OMI_ENCRYPTION_SECRET", "OTEL_EXPORTER_OTLP_HEADERS"]
    )) == 0
    error_message = "Optional secrets are OPENROUTER_API_KEY, FALLBACK_API_KEY, TRANSCRIPTION_API_KEY, DEEPGRAM_API_KEY, OMI_ENCRYPTION_SECRET and OTEL_EXPORTER_OTLP_HEADERS."
  }
}
