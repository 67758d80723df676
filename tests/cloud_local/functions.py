"""Entry points as processes of their own, with the settings that Terraform gives them."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT, EntryPoint, load_entry_points
from tests.cloud_local.stand_ins import PROJECT, StandIns
from tests.infra.terraform.stack import FOUNDATION, NUMBER, build_command, evaluate

STARTED_AT_ONCE = 4
PUSHING = ("deliver_digest", "deliver_notification")
SECRET = "key=a-secret-of-at-least-thirty-two-characters"


def choose_urls() -> dict[str, str]:
    return {
        function.name: f"http://127.0.0.1:{find_free_port()}" for function in load_entry_points()
    }


def build_environments(
    stand_ins: StandIns, urls: Mapping[str, str], origin: str, folder: Path
) -> dict[str, dict[str, str]]:
    """Build the environment of each function: Terraform's values, with our addresses in place of Google's."""
    values = evaluate("services", "settings", "secrets", "services", project=PROJECT, pinecone_dense_host="")  # fmt: skip
    deployed_urls = {
        f"https://{service}-{NUMBER}.{FOUNDATION['region']}.run.app": urls[name]
        for name, service in values["services"].items()
    }
    deployed_urls[f"https://{FOUNDATION['domain']}"] = origin
    environments = {}
    for name, settings in values["settings"].items():
        secrets = [secret for secret, readers in values["secrets"].items() if name in readers]
        credentials = stand_ins.tokens.write_credentials(
            folder, f"fn-{name.replace('_', '-')}", stand_ins.tokens_url
        )
        environments[name] = {
            **{key: replace_all(value, deployed_urls) for key, value in settings.items()},
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


@contextmanager
def run_functions(environments: Mapping[str, Mapping[str, str]], folder: Path) -> Iterator[None]:
    """Start every entry point, a few at a time, and stop all on leaving."""
    with ExitStack() as stack:
        processes = [
            run_function(function, environments[function.name], folder)
            for function in load_entry_points()
        ]
        with ThreadPoolExecutor(STARTED_AT_ONCE) as pool:
            for process, _ in zip(processes, pool.map(lambda p: p.__enter__(), processes), strict=True):  # fmt: skip
                stack.push(process.__exit__)
        yield


@contextmanager
def run_function(
    function: EntryPoint, environment: Mapping[str, str], folder: Path
) -> Iterator[None]:
    port, source = int(environment["PORT"]), str(function.source.relative_to(ROOT))
    loaded = {"FUNCTION_TARGET": function.name, "FUNCTION_SOURCE": source}
    variables = [f"{name}={value}" for name, value in {**environment, **loaded}.items()]
    command = ["env", "-i", *variables, *build_command(port, function.name)]
    with run_process(command, port=port, log=folder / f"{function.name}.log", cwd=ROOT):
        yield
