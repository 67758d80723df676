"""Metrics that objectives rest on: whether Google knows them yet: `python -m infra.deploy.metrics PROJECT`."""

import argparse
import sys

from infra.deploy.google import URL, Google, open_google, read_token

MEASURED = ("deliveries", "first_word", "processing_age", "turns")


def find_unknown_metrics(google: Google) -> list[str]:
    """Return what is not known yet of MEASURED. Raises httpx.TransportError."""
    path = f"v3/projects/{google.project}/metricDescriptors/logging.googleapis.com/user/keepsake_"
    return [name for name in MEASURED if not google.get("monitoring", path + name).is_success]


def main() -> None:
    parser = argparse.ArgumentParser(description="Tell whether the metrics of objectives are known.")  # fmt: skip
    parser.add_argument("project")
    parser.add_argument("--url", default=URL, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with open_google(options.project, read_token(), url=options.url) as google:
        unknown = find_unknown_metrics(google)
    sys.exit(f"Not known yet: {', '.join(unknown)}." if unknown else 0)


if __name__ == "__main__":
    main()
