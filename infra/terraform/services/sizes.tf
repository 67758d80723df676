# How large each function is: memory, how many requests one instance takes at a time, how many instances there are.
# The most instances bound what a flood can cost, and fit into what Cloud Run gives a new project: 20 vCPU and 40 GiB a
# service and region.

locals {
  default_size = { memory = "512Mi", concurrency = 20, timeout_s = 540, min_instances = 0, max_instances = 10 }
  own_sizes = {
    # An answer may wait ten minutes for its owner, beside its own time. One instance is always warm.
    chat = { memory = "1Gi", concurrency = 40, timeout_s = 900, min_instances = 1, max_instances = 20 }
    # Imported files are read by two processes beside the service, of up to 1.5 GiB each.
    files        = { memory = "4Gi", concurrency = 4 }
    import_files = { memory = "4Gi", concurrency = 2 }
    # A connection is cut after an hour; ours end before, and their devices come back.
    listen    = { memory = "1Gi", concurrency = 100, timeout_s = 3600, max_instances = 20 }
    library   = { memory = "4Gi", concurrency = 20 }
    read_file = { memory = "4Gi", concurrency = 2 }
    # They wait for models: few at a time, so that new instances come before the queue grows.
    after_turn           = { concurrency = 10, max_instances = 20 }
    process_conversation = { memory = "1Gi", concurrency = 8, max_instances = 20 }
    transcribe_audio     = { memory = "1Gi", concurrency = 4 }
    # The rows of a recording of a whole day, with their dense values, take 200 MiB.
    reindex_users = { memory = "1Gi", concurrency = 4 }
    # It waits for third parties, and an answer waits for it.
    tool_proxy = { concurrency = 40, max_instances = 20 }
  }
  sizes = {
    for name, _ in local.functions : name => merge(
      local.default_size,
      try(local.own_sizes[name], {}),
      { for setting, value in try(var.sizes[name], {}) : setting => value if value != null },
    )
  }
}
