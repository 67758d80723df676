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
  description = "The domain of the API; its A record must point to the output api_address."
  type        = string
}

variable "console_origin" {
  description = "The origin of the console, which may call the API: https://<site>.web.app."
  type        = string
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

variable "max_instances" {
  description = "The most instances of one function; it bounds what a flood can cost."
  type        = number
  default     = 20
}
