# The way of our functions to internal ones: over a network of ours, since these refuse all others. It costs nothing,
# and Cloud Run holds addresses of it for hours after a function is gone: so it outlives the functions.

resource "google_compute_network" "internal" {
  name                    = "keepsake"
  auto_create_subnetworks = false
  depends_on              = [google_project_service.used]
}

# Each instance of a caller takes two addresses, and so does the one that replaces it.
resource "google_compute_subnetwork" "internal" {
  name                     = "keepsake"
  region                   = var.region
  network                  = google_compute_network.internal.id
  ip_cidr_range            = var.subnet
  private_ip_google_access = true
}

# Inside the network, the names of Cloud Run lead to Google's private addresses; other traffic of the
# functions goes out as before, so no NAT is needed.
resource "google_dns_managed_zone" "run" {
  name       = "run-app"
  dns_name   = "run.app."
  visibility = "private"
  private_visibility_config {
    networks {
      network_url = google_compute_network.internal.id
    }
  }
}

resource "google_dns_record_set" "run" {
  for_each = {
    "run.app."   = { type = "A", rrdatas = ["199.36.153.8", "199.36.153.9", "199.36.153.10", "199.36.153.11"] }
    "*.run.app." = { type = "CNAME", rrdatas = ["run.app."] }
  }
  managed_zone = google_dns_managed_zone.run.name
  name         = each.key
  type         = each.value.type
  ttl          = 300
  rrdatas      = each.value.rrdatas
}
