# Sizes for ten million users, as docs/scale.md computes them: copy what your growth needs into production.tfvars.
sizes = {
  chat                      = { max_instances = 600 }
  after_turn                = { max_instances = 800 }
  process_conversation      = { max_instances = 3000 }
  library                   = { max_instances = 200 }
  deliver_notification      = { max_instances = 80 }
  on_conversation_written   = { max_instances = 40 }
  notifications             = { max_instances = 40 }
  close_run                 = { max_instances = 20 }
  on_conversation_processed = { max_instances = 20 }
  tool_proxy                = { max_instances = 40 }
  listen                    = { max_instances = 14000 }
}

# Tasks of one kind go to so many queues.
task_queues = 72
