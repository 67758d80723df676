"""Module docstrings: each opens with a noun phrase, so that a list of modules reads as an index."""

import ast
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("functions", "shared", "infra", "examples", "tests")
DOCSTRING = re.compile(r'(?:#.*\n|\s)*("""[\s\S]*?""")')
QUESTION_WORDS = {"What", "How", "Which", "Who", "When", "Where", "Whether", "Whoever", "Nobody"}


def read_docstring(path: Path) -> str:
    """Read the docstring of a module; the rest is not parsed."""
    found = DOCSTRING.match(path.read_text())
    return inspect.cleandoc(ast.literal_eval(found[1])) if found else ""


def test_no_module_docstring_opens_with_a_question_word():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]

    docstrings = {str(path): read_docstring(path) for path in paths}

    opens_badly = [
        path for path, text in docstrings.items() if text and text.split()[0] in QUESTION_WORDS
    ]
    assert opens_badly == []
