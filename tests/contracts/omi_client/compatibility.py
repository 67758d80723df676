"""Compatibility page: `python -m tests.contracts.omi_client.compatibility` writes docs/compatibility.md.

A call counts as served when a test is marked with its name, as in
`@pytest.mark.client_call("getFolders")`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from functions.library.account.refused_calls import REFUSED
from tests.contracts.omi_client.calls import ANSWERED_EMPTY, CALLS

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[2] / "docs/compatibility.md"
TestsByCall = Mapping[str, list[tuple[str, str]]]
"""File name and test name of each test, by the call that it is marked with."""

PREFACE = """# Compatibility

What works with the released Omi app (version 1.0.530, April 2026, and others), its apps and programs: {served} calls are
served, {empty} answered well-formed and empty, so that no page fails, and {refused} refused in words, in their user's language.
`python -m tests.contracts.omi_client.compatibility` writes this page from tests that send each call as the app does, and read the
answer with its types.
"""
POSTSCRIPT = """
## Not Keepsake's

- Apps hear live words and sound (`/v4/listen`) only once their user allows that by name, in the console.
- Sign-in: Firebase does it; Keepsake verifies its tokens.
- The app's links to Omi's website lead there. Keepsake's own are in the answers.
- Paid apps: refused with a reason.
- Sign-in of MCP clients by `/authorize` with a fixed code: whoever asks would get a library. [OAuth and keys](programs.md) work.

[Third-party apps](apps.md) and [other programs](programs.md) work.
"""


def find_tests() -> TestsByCall:
    """Return the tests by the calls that they are marked with."""
    tests: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(FOLDER.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in _list_marked_calls(node):
                    tests[call].append((path.name, node.name))
    return tests


def render(tests: TestsByCall) -> str:
    """Render the page."""
    preface = PREFACE.format(
        served=sum(map(len, CALLS.values())),
        empty=len(ANSWERED_EMPTY),
        refused=sum(map(len, REFUSED.values())),
    )
    areas = "".join(_render_area(area, calls, tests) for area, calls in CALLS.items())
    empty = ", ".join(f"`{request.removeprefix('GET ')}`" for request in ANSWERED_EMPTY)
    refused = "".join(_render_refused(sentence, calls) for sentence, calls in REFUSED.items())
    return f"{preface}{areas}\n## Answered empty\n\n{empty}\n\n## Refused\n\n{refused}{POSTSCRIPT}"


def _render_area(area: str, calls: Mapping[str, str], tests: TestsByCall) -> str:
    rows = "".join(f"|{name}|`{request}`|\n" for name, request in calls.items())
    files = sorted({file for call in calls for file, _ in tests[call]})
    links = ", ".join(f"[{file}](../tests/contracts/omi_client/{file})" for file in files)
    return f"\n## {area}\n\n{links}\n\n|call|request|\n|---|---|\n{rows}"


def _render_refused(sentence: str, calls: Sequence[tuple[str, str]]) -> str:
    requests = ", ".join(f"`{method} {path.replace(':path', '')}`" for method, path in calls)
    return f"- “{sentence}” {requests}\n"


def _list_marked_calls(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(".client_call"):
            yield from (ast.literal_eval(argument) for argument in decorator.args)


if __name__ == "__main__":
    PAGE.write_text(render(find_tests()))
