"""Every package, and every module that users import, lists its public names completely.

That they are in order and documented, ruff checks (RUF022, D).
"""

import ast
import importlib
import re
from collections.abc import Mapping
from typing import get_origin

import pytest

PACKAGES = (
    "ultracluster",
    "ultracluster_catalog",
    "ultracluster_checks",
    "ultracluster_spec",
    "ultracluster_cli",
    "ultracluster_local",
    "ultracluster_runtime",
    "ultracluster_stacks",
    "ultracluster_stacks.config",
)


# Users import the modules of the catalogue whose types are arguments of constructs, and those of the runtime that are documented
# by their path. In the others there is no `__all__`: an underscore marks what a module keeps to itself, and mypy's strict mode
# keeps names from being re-exported.
USERS_IMPORT = re.compile(
    r"ultracluster(_catalog\.(machines\.(instance_type|nic_layouts)|neuron\.neuron_(images|settings))"
    r"|_runtime\.(bake_off|checkpoints|service_jobs|training_metrics))?"
)


def test_every_public_module_for_users_has_an_all(modules: Mapping[str, ast.Module]) -> None:
    public = {
        name: _all(tree)
        for name, tree in modules.items()
        if _is_public(name) and not _is_program(tree) and _lists_names(name)
    }

    assert {*PACKAGES} <= set(public)
    assert [name for name, exported in public.items() if exported is None] == []


def test_every_public_definition_for_users_is_in_all(modules: Mapping[str, ast.Module]) -> None:
    assert [
        f"{name}.{definition.name}"
        for name, tree in modules.items()
        if _is_public(name) and not _is_program(tree) and USERS_IMPORT.fullmatch(name)
        for definition in _definitions(tree)
        if not definition.name.startswith("_") and definition.name not in (_all(tree) or [])
    ] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_offers_everything_that_it_gathers(modules: Mapping[str, ast.Module], package: str) -> None:
    tree = modules[package]
    gathered = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ultracluster")
        for alias in node.names
    }

    assert {name for name in gathered if not name.startswith("_")} - set(_all(tree) or []) == set()


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_everything_that_a_package_offers_can_be_imported_and_is_documented(package: str) -> None:
    module = importlib.import_module(package)
    offered = {name: getattr(module, name) for name in module.__all__}

    assert [
        name
        for name, value in offered.items()
        # A type alias is documented by the text below it, which Python does not keep.
        if callable(value) and get_origin(value) is None and not value.__doc__
    ] == []


def test_a_type_checker_knows_what_is_imported_later_by_the_same_modules(
    modules: Mapping[str, ast.Module],
) -> None:
    (told,) = (
        each
        for each in modules["ultracluster"].body
        if isinstance(each, ast.If) and not each.orelse and isinstance(each.test, ast.Name)
    )
    (later,) = (
        ast.literal_eval(each.value)
        for each in modules["ultracluster"].body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "_LAZY_IMPORTS"
    )

    assert later == {
        alias.name: node.module
        for node in told.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _lists_names(name: str) -> bool:
    return name in PACKAGES or bool(USERS_IMPORT.fullmatch(name)) or name.startswith("ultracluster_local.")


def test_internal_modules_have_no_all(modules: Mapping[str, ast.Module]) -> None:
    packages = {name.rpartition(".")[0] for name in modules}

    assert [
        name
        for name, tree in modules.items()
        if _all(tree) is not None and not _lists_names(name) and name not in packages
    ] == []


def _is_public(name: str) -> bool:
    return name != "app" and not any(part.startswith("_") for part in name.split("."))


def _is_program(tree: ast.Module) -> bool:
    """Whether it is started by its path, and not imported."""
    return any(isinstance(node, ast.If) and "__main__" in ast.dump(node.test) for node in tree.body)


def _all(tree: ast.Module) -> list[str] | None:
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
            ):
                return list(ast.literal_eval(value))
    return None


def _definitions(tree: ast.Module) -> list[ast.FunctionDef | ast.ClassDef]:
    return [statement for statement in tree.body if isinstance(statement, ast.FunctionDef | ast.ClassDef)]
