"""docs/gallery/examples.md names every example, in the words of its app."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/gallery/examples.md").read_text()


def test_the_page_has_one_row_for_each_folder_and_repeats_the_text_of_its_app() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(\.\./\.\./examples/(.+?)/app\.py\) \| (.+?) \|", PAGE, re.MULTILINE)
    apps = {path.parent.name: path for path in (ROOT / "examples").glob("*/app.py")}

    assert apps
    assert sorted(name for name, _, _ in rows) == sorted(apps)
    for name, folder, says in rows:
        docstring = ast.get_docstring(ast.parse(apps[name].read_text()))
        assert docstring is not None
        assert (folder, says) == (name, docstring.splitlines()[0])


def test_every_folder_of_examples_has_an_app_or_a_program_that_the_page_names() -> None:
    folders = {path.name for path in (ROOT / "examples").iterdir() if any(path.glob("*.py"))}
    apps = {path.parent.name for path in (ROOT / "examples").glob("*/app.py")}
    programs = re.findall(
        r"^\| \[(.+?)\]\(\.\./\.\./examples/(.+?)/train\.py\) \| (.+?) \|", PAGE, re.MULTILINE
    )

    assert folders == apps | {name for name, _, _ in programs}
    for name, folder, says in programs:
        docstring = ast.get_docstring(ast.parse((ROOT / "examples" / name / "train.py").read_text()))
        assert docstring is not None
        assert (folder, says) == (name, docstring.splitlines()[0])
