"""docs/examples.md names every example, in the words of its app."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/examples.md").read_text()


def test_the_page_has_one_row_for_each_folder_and_repeats_the_text_of_its_app() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(\.\./examples/(.+?)/app\.py\) \| (.+?) \|", PAGE, re.MULTILINE)
    apps = {path.parent.name: path for path in (ROOT / "examples").glob("*/app.py")}

    assert apps
    assert sorted(name for name, _, _ in rows) == sorted(apps)
    for name, folder, says in rows:
        docstring = ast.get_docstring(ast.parse(apps[name].read_text()))
        assert docstring is not None
        assert (folder, says) == (name, docstring.splitlines()[0])


def test_every_folder_of_examples_has_an_app() -> None:
    folders = {path.name for path in (ROOT / "examples").iterdir() if any(path.glob("*.py"))}

    assert folders == {path.parent.name for path in (ROOT / "examples").glob("*/app.py")}
