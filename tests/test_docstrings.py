"""Module docstrings: each opens with a noun phrase, so that a list of modules reads as an index."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("functions", "shared", "infra", "examples", "tests")
QUESTION_WORDS = {"What", "How", "Which", "Who", "When", "Where", "Whether", "Whoever", "Nobody"}


def test_no_module_docstring_opens_with_a_question_word():
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]

    docstrings = {str(path): ast.get_docstring(ast.parse(path.read_text())) for path in paths}

    opens_badly = [
        path for path, text in docstrings.items() if text and text.split()[0] in QUESTION_WORDS
    ]
    assert opens_badly == []
