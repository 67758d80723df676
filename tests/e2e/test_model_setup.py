"""Model set-up from start to answer: a refused key is named, and a choice counts at once (U5)."""

from pathlib import Path

from tests.e2e.product import ask, build_model_environment, run_product
from tests.e2e.waiting import wait_until
from tests.local_key import KEY_HEADER
from tests.servers.openai import Script, scripted_openai


def test_a_refused_key_is_named_at_start_in_the_log_and_in_the_answer(tmp_path: Path) -> None:
    log = tmp_path / "product.log"
    with (
        scripted_openai(Script(status=401)) as server,
        run_product(tmp_path, **build_model_environment(server.url)) as product,
        product.client("alice") as http,
    ):
        line = "cannot be used now. The provider of the language model refused the key."
        wait_until(lambda: line in log.read_text() or None, within_s=10)
        assert server.requests == [], "the start asks free questions alone"
        answer = ask(http, "What is new?")
        text = log.read_text()

    assert "refused the key. It is OPENAI_API_KEY in the environment" in answer.text
    assert "try again" not in answer.text
    assert '"refused_key"' in text
    assert "test-key" not in text


def test_a_model_that_is_set_while_the_server_runs_gives_the_next_answer(tmp_path: Path) -> None:
    with (
        scripted_openai(Script(text="I am the new one.")) as server,
        run_product(tmp_path) as product,
        product.client("alice") as http,
    ):
        setup = {"kind": "compatible", "base_url": server.url, "model": "large"}
        http.put("/local/model", json=setup, headers=KEY_HEADER).raise_for_status()
        answered = ask(http, "What is new?")
        http.delete("/local/model", headers=KEY_HEADER).raise_for_status()
        offline = ask(http, "What is new?")

    assert answered.text == "I am the new one."
    assert offline.text != answered.text
