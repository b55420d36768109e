"""Scripts are read as they are, or without what takes bytes and does nothing."""

import ast

import pytest

from ultracluster._foundation.script import lean_script, read_script

pytestmark = pytest.mark.slow

SCRIPTS = ["launch.py", "node_metrics.py"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_lean_script_is_shorter_and_means_the_same(name: str) -> None:
    def meaning(source: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if (
                isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
                and ast.get_docstring(node) is not None
            ):
                del node.body[0]
        return ast.dump(tree)

    lean = lean_script(name)

    assert len(lean) < len(read_script(name))
    assert '"""' not in lean
    assert meaning(lean) == meaning(read_script(name))
