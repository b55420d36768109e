"""Every docstring with a section of arguments has all of them."""

import ast
from collections.abc import Mapping


def test_every_argument_is_documented_but_the_scope_and_id_of_a_construct(
    modules: Mapping[str, ast.Module],
) -> None:
    missing = {
        f"{module}.{function.name}:{function.lineno}": undocumented
        for module, tree in modules.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and (undocumented := _undocumented(function))
    }

    assert missing == {}


def _undocumented(function: ast.FunctionDef) -> set[str]:
    """Arguments that the section of arguments in a docstring lacks."""
    _, section, documented = (ast.get_docstring(function) or "").partition("\nArgs:\n")
    if not section:
        return set()
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {
        argument.arg
        for argument in arguments
        if argument.arg not in {"self", "cls", "scope", "construct_id"}
        and f"    {argument.arg}: " not in documented
    }
