# Which function calls which, read from ../../../routes.json: plain values, which tests evaluate.

locals {
  routes = jsondecode(file("${path.module}/../../routes.json"))
  # A direct call is made as the caller; what the platform delivers, as an account of its own.
  calls           = { for call in local.routes.calls : call.account => call }
  delivered_calls = { for account, call in local.calls : account => call if call.via != "request" }
  task_calls      = { for account, call in local.calls : account => call if call.via == "task" }
  scheduled_calls = { for account, call in local.calls : account => call if call.via == "schedule" }
  direct_callers  = toset([for call in local.routes.calls : call.caller if call.via == "request"])
  # The account of a subscription or a trigger, by `<topic or document>.<function>`.
  delivery_accounts = {
    for account, call in local.delivered_calls :
    "${call.caller}.${call.function}" => account if contains(["event", "trigger"], call.via)
  }
  task_creators = toset([for call in local.task_calls : call.caller])
  # Deliveries to apps have a queue of their own: a slow server of theirs holds up none of our tasks.
  webhook_functions = ["on_conversation_processed", "deliver_webhook"]
  queue_names = {
    for name, _ in local.routes.functions :
    name => contains(local.webhook_functions, name) ? "keepsake-webhooks" : "keepsake"
  }
  # Function → { function that its tasks call → account }.
  task_accounts = {
    for name, _ in local.routes.functions :
    name => { for account, call in local.task_calls : call.function => account if call.caller == name }
  }
  queue_users = merge([
    for name in local.task_creators : {
      for queue in local.queue_shards[local.queue_names[name]] : "${name}.${queue}" => { function = name, queue = queue }
    }
  ]...)
  publishers = merge([
    for topic, names in local.routes.publishers : { for name in names : "${topic}.${name}" => { topic = topic, function = name } }
  ]...)
  # From outside only the load balancer comes in, and to public functions alone.
  ingress = {
    for name, function in local.routes.functions : name => (
      function.access == "public" ? "INGRESS_TRAFFIC_INTERNAL_LOAD_BALANCER" : "INGRESS_TRAFFIC_INTERNAL_ONLY"
    )
  }
}
