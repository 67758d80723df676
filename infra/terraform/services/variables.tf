variable "project" {
  description = "The Google Cloud project."
  type        = string
}

variable "state_bucket" {
  description = "Where the state of ../foundation is."
  type        = string
}

variable "image" {
  description = "The image of the functions, by digest."
  type        = string
  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.image))
    error_message = "The image is named by its digest: REPOSITORY/functions@sha256:…"
  }
}

variable "release" {
  description = "The name of this release; each function's revision ends with it."
  type        = string
  validation {
    condition     = can(regex("^r[0-9a-z]{1,20}$", var.release))
    error_message = "A release is named by an r, and up to 20 small letters and digits."
  }
}

variable "canary" {
  description = "While two releases serve: the other one, the functions that have it, and the percentage that the new one gets. With 0 the other one serves alone, which is a rollback."
  type = object({
    stable    = string
    functions = list(string)
    percent   = number
  })
  default = null
  validation {
    condition     = var.canary == null || try(var.canary.percent >= 0 && var.canary.percent < 100, false)
    error_message = "A canary gets 0 to 99 percent; without a canary the new release gets all."
  }
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

variable "objectives" {
  description = "Whether objectives and their alerts are made: their metrics have to be known."
  type        = bool
  default     = false
}

variable "settings" {
  description = "Further settings of docs/settings.md, such as MODEL_AGENT or QUOTA_TURNS; local.optional_settings lists them."
  type        = map(string)
  default     = {}
  validation {
    condition     = length(setsubtract(keys(var.settings), local.optional_settings)) == 0
    error_message = "settings has what nobody sets here: ${join(", ", setsubtract(keys(var.settings), local.optional_settings))}. local.optional_settings lists what may be set."
  }
}

variable "sizes" {
  description = "Function → what differs from its row in sizes.tf: min_instances, max_instances."
  type        = map(object({ min_instances = optional(number), max_instances = optional(number) }))
  default     = {}
}

variable "task_queues" {
  description = "How many queues tasks of one kind are spread over; each dispatches 500 a second."
  type        = number
  default     = 1
}

variable "requests_per_minute" {
  description = "How many requests one address may send in a minute; a whole office may share one."
  type        = number
  default     = 1200
}
