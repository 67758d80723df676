variable "project" {
  description = "The Google Cloud project."
  type        = string
}

variable "region" {
  description = "Where functions run; the Firestore database must be in reach of it."
  type        = string
  default     = "us-central1"
}

variable "firestore_location" {
  description = "Where documents are kept; it cannot be changed later."
  type        = string
  default     = "us-central1"
}

variable "domain" {
  description = "The domain of console and API; its A record must point to the output api_address."
  type        = string
}

variable "console_origin" {
  description = "Another origin that may call the API, for a console at Firebase Hosting: https://<site>.web.app."
  type        = string
  default     = ""
}

variable "firebase_api_key" {
  description = "The web API key of the Firebase project, by which the console signs people in; it is public."
  type        = string
}

variable "sign_in_providers" {
  description = "How people sign in: password, google.com, or both; each must be switched on in Firebase."
  type        = list(string)
  default     = ["password"]
}

variable "google_sign_in_client_id" {
  description = "The OAuth client of the Firebase project, for google.com; https://<domain>/ is one of its redirect URIs."
  type        = string
  default     = ""
}

variable "sign_up" {
  description = "Whether the console offers to create an account."
  type        = bool
  default     = false
}

variable "pinecone_sparse_host" {
  description = "The host of the sparse Pinecone index."
  type        = string
}

variable "pinecone_dense_host" {
  description = "The host of the dense Pinecone index; without one, search runs on words alone."
  type        = string
  default     = ""
}

variable "fallback_models" {
  description = "role=model,… : who answers for a role whose model is down, at the same provider."
  type        = string
  default     = ""
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
}

variable "link_checks" {
  description = "off: links of answers are not looked up."
  type        = string
  default     = "on"
}

variable "harm_limit" {
  description = "From which rating on, of 0 to 10, a harmful answer is written again; off: none is."
  type        = string
  default     = "7"
}

variable "max_instances" {
  description = "The most instances of one function; it bounds what a flood can cost."
  type        = number
  default     = 20
}
