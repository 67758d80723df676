"""Entry points of the cloud: their addresses, and the settings that Terraform gives them."""

import os
from collections.abc import Mapping
from pathlib import Path

from infra.emulators.process import find_free_port
from infra.local.routing import ROOT, load_entry_points
from tests.cloud_local.stand_ins import PROJECT, TABLE, StandIns
from tests.infra.terraform.stack import FOUNDATION, NUMBER, evaluate

PUSHING = ("deliver_digest", "deliver_notification")
AUDIENCES = "SERVICE_AUDIENCES"
"""They name services as the cloud does, here as well: an audience is compared, not called."""
SECRET = "key=a-secret-of-at-least-thirty-two-characters"


def choose_urls() -> dict[str, str]:
    return {
        function.name: f"http://127.0.0.1:{find_free_port()}" for function in load_entry_points()
    }


def name_deployed_urls() -> dict[str, str]:
    """Return the address that Cloud Run gives each function, as it documents it."""
    services = evaluate("services", "services", project=PROJECT)["services"]
    region = FOUNDATION["region"]
    return {
        name: f"https://{service}-{NUMBER}.{region}.run.app" for name, service in services.items()
    }


def name_trigger_audiences() -> dict[str, str]:
    """Return the audiences that Eventarc asks for at the functions of triggers: their addresses in the cloud."""
    urls = name_deployed_urls()
    return {name: urls[name] for name in TABLE["triggers"].values()}


def read_timeouts() -> dict[str, float]:
    """Return how many seconds a request of each function may take."""
    sizes = evaluate("services", "sizes", project=PROJECT)["sizes"]
    return {name: size["timeout_s"] for name, size in sizes.items()}


def build_environments(
    stand_ins: StandIns, urls: Mapping[str, str], origin: str, folder: Path
) -> dict[str, dict[str, str]]:
    """Build the environment of each function: Terraform's values, with our addresses in place of Google's."""
    values = evaluate("services", "settings", "secrets", project=PROJECT)
    deployed_urls = {url: urls[name] for name, url in name_deployed_urls().items()}
    deployed_urls[f"https://{FOUNDATION['domain']}"] = origin
    environments = {}
    for name, settings in values["settings"].items():
        secrets = [secret for secret, readers in values["secrets"].items() if name in readers]
        credentials = stand_ins.tokens.write_credentials(
            folder, f"fn-{name.replace('_', '-')}", stand_ins.tokens_url
        )
        environments[name] = {
            **{key: replace_all(value, {} if key == AUDIENCES else deployed_urls) for key, value in settings.items()},
            **dict.fromkeys(secrets, SECRET),
            **{key: value for key, value in stand_ins.settings.items() if not is_forbidden(key, settings, secrets)},
            **(stand_ins.push_settings if name in PUSHING else {}),
            "GOOGLE_APPLICATION_CREDENTIALS": str(credentials),
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "HOST": "127.0.0.1",
            "PORT": urls[name].rpartition(":")[2],
        }  # fmt: skip
    return environments


def is_forbidden(name: str, settings: Mapping[str, str], secrets: list[str]) -> bool:
    """Tell whether a function is not told a key or secret in the cloud either."""
    is_key = name.endswith(("KMS_KEY", "API_KEY"))
    return is_key and name not in settings and name not in secrets


def replace_all(text: str, replacements: Mapping[str, str]) -> str:
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text
