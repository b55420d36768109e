"""Multi-node jobs as arrays of one child for each node, where AWS Batch runs no multi-node parallel jobs (decision 0024)."""

import ast
from collections.abc import Mapping, Sequence

from ultracluster._foundation.function_code import runtime_folder
from ultracluster.jobs.launcher import Launcher, launch_command
from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_catalog.names.submission_tags import ARRAY_NODES_VARIABLE
from ultracluster_spec.commands import encode_word

_MODULES = ("rendezvous", "places", "member", "child")
_FOLDER = ".ultracluster/arrays"


def rendezvous_command(command: Sequence[str], launcher: Launcher) -> list[str]:
    """Return the command of a child: it meets the others, then starts the launcher as on a node of a multi-node job.

    The program of the rendezvous is a word of the command, because user data has no room for it and images need not have it.
    """
    return [
        "python3",
        LAUNCHER_PATH,
        "raw",
        "python3",
        "-c",
        encode_word(_source()),
        *launch_command(command, launcher),
    ]


def rendezvous_environment(*, nodes: int, place: str) -> Mapping[str, str]:
    """Return the variables of the rendezvous, at a mount point of the shared file system or in ``s3://BUCKET``."""
    return {ARRAY_NODES_VARIABLE: str(nodes), "UC_RENDEZVOUS_PLACE": f"{place}/{_FOLDER}"}


def _source() -> str:
    """Return the modules of the rendezvous as one, without docstrings, comments and imports of each other."""
    folder = runtime_folder() / "array_rendezvous"
    merged = ast.Module(body=[], type_ignores=[])
    for name in _MODULES:
        module = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
        merged.body += [node for node in module.body if not _is_internal(node)]
    for node in ast.walk(merged):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return "from __future__ import annotations\n" + ast.unparse(merged)


def _is_internal(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # documentation
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return True
    module = node.module if isinstance(node, ast.ImportFrom) else ""
    return bool(module) and (module == "__future__" or str(module).startswith("ultracluster_runtime"))
