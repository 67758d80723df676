# One service for each entry point of routes.json, all of one image, each with an account of its own.

locals {
  functions = local.routes.functions
  public    = { for name, function in local.functions : name => function if function.access == "public" }
  # Cloud Run names hold no underscore; a service's URL is known before it exists.
  services = { for name, _ in local.functions : name => replace(name, "_", "-") }
  applications = {
    for name, function in local.functions : name => try(function.sockets, false)
    ? "${replace(trimsuffix(function.source, ".py"), "/", ".")}:app"
    : "functions_framework.aio:app"
  }
  socket_protocols = { for name, function in local.functions : name => try(function.sockets, false) ? "websockets-sansio" : "none" }
  # Release → percentage of the requests of each function.
  traffic = {
    for name, _ in local.functions : name => {
      for release, percent in(
        try(contains(var.canary.functions, name), false)
        ? tomap({ (var.release) = var.canary.percent, (var.canary.stable) = 100 - var.canary.percent })
        : tomap({ (var.release) = 100 })
      ) : release => percent if percent > 0
    }
  }
}

resource "google_service_account" "function" {
  for_each     = local.services
  account_id   = "fn-${substr(each.value, 0, 27)}"
  display_name = "Runs ${each.key}"
}

resource "google_cloud_run_v2_service" "function" {
  for_each         = local.functions
  name             = local.services[each.key]
  location         = local.region
  ingress          = local.ingress[each.key]
  custom_audiences = each.value.access == "internal" ? [each.key] : []
  # Public functions verify their callers themselves; internal ones are for our own accounts. Organisations forbid to
  # name all users in a right.
  invoker_iam_disabled = each.value.access == "public"
  # What is taken away by `make destroy` has to let itself be taken away.
  deletion_protection = false

  template {
    revision                         = "${local.services[each.key]}-${var.release}"
    service_account                  = google_service_account.function[each.key].email
    timeout                          = "${local.sizes[each.key].timeout_s}s"
    max_instance_request_concurrency = local.sizes[each.key].concurrency
    # Who follows a run comes to the instance that has it, if there is room.
    session_affinity = try(each.value.streaming, false)
    scaling {
      min_instance_count = local.sizes[each.key].min_instances
      max_instance_count = local.sizes[each.key].max_instances
    }

    containers {
      image = var.image
      # The framework's own application, loaded in the process and the loop that serve it, so that it connects while it
      # loads; of sockets, which it does not carry, their own.
      command = ["uvicorn"]
      args = [
        local.applications[each.key], "--host=0.0.0.0", "--port=8080", "--lifespan=on", "--log-level=error", "--no-access-log",
        "--ws=${local.socket_protocols[each.key]}", "--ws-max-size=1048576", "--ws-per-message-deflate=false",
        # No pong is read while sound waits for a slow transcriber.
        "--ws-ping-timeout=300",
      ]
      ports {
        container_port = 8080
      }
      env {
        name  = "FUNCTION_TARGET"
        value = each.key
      }
      env {
        name  = "FUNCTION_SOURCE"
        value = each.value.source
      }
      resources {
        limits = { cpu = "1", memory = local.sizes[each.key].memory }
        # A run outlives its connection and needs its processor until it is stored.
        cpu_idle          = !try(each.value.streaming, false)
        startup_cpu_boost = true
      }
      dynamic "env" {
        for_each = local.settings[each.key]
        content {
          name  = env.key
          value = env.value
        }
      }
      dynamic "env" {
        for_each = { for secret, readers in local.secrets : secret => readers if contains(readers, each.key) }
        content {
          name = env.key
          value_source {
            secret_key_ref {
              secret  = env.key
              version = "latest"
            }
          }
        }
      }
    }

    # Who calls an internal function goes through our network: these refuse all others.
    dynamic "vpc_access" {
      for_each = contains(local.direct_callers, each.key) ? [true] : []
      content {
        egress = "PRIVATE_RANGES_ONLY"
        network_interfaces {
          subnetwork = local.foundation.subnetwork
        }
      }
    }
  }

  dynamic "traffic" {
    for_each = local.traffic[each.key]
    content {
      type     = "TRAFFIC_TARGET_ALLOCATION_TYPE_REVISION"
      revision = "${local.services[each.key]}-${traffic.key}"
      percent  = traffic.value
    }
  }

  depends_on = [
    google_secret_manager_secret_iam_member.reader, google_project_iam_member.reads_documents,
    google_kms_crypto_key_iam_member.wraps_tokens, google_kms_crypto_key_iam_member.wraps_signing_secrets,
    google_kms_crypto_key_iam_member.wraps_data_keys,
  ]
}
