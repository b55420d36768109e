"""Every argument that users can give to a construct is given by some test or example.

Read from the syntax trees: a call by the name of a class or method counts with its keywords, also where a test is given the
class as an argument and says so in its annotation. A helper of the tests that passes on keywords counts as what it
calls, and then the keys of the dictionaries beside it count too.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

Argument = tuple[
    str, str
]  # what is called, and a keyword; a class is called by its name, a method as Class.method

PACKAGE = "ultracluster"

# Made by our constructs, and only read by users.
NOT_MADE_BY_USERS = {"ComputeEnvironment"}


@pytest.fixture(scope="module")
def offered(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Keywords of the constructors and public methods of every class that the package offers."""
    found: dict[str, set[str]] = {}
    for module, name in _imported_names(modules[PACKAGE]).values():
        if module not in modules or name not in _classes(modules[module]) or name in NOT_MADE_BY_USERS:
            continue  # the first is the standard library's, the second a union of classes
        definitions = list(_with_bases(modules, module, name))
        methods = [method for definition in definitions for method in _functions(definition)]
        for method in methods:
            if method.name == "__init__":
                found.setdefault(name, _keywords(method) | _options(modules, method))
            elif not method.name.startswith("_"):
                found.setdefault(f"{name}.{method.name}", _keywords(method) | _options(modules, method))
        # A dataclass with a from_… is made by that.
        if _is_dataclass(definitions[0]) and not any(each.name.startswith("from_") for each in methods):
            found[name] = set().union(*map(_fields, definitions))
    return {called: keywords for called, keywords in found.items() if keywords}


@pytest.fixture(scope="module")
def trees(root: Path) -> dict[str, ast.Module]:
    """The tests and the examples, by the names that imports give them."""
    files = [*(root / "tests").rglob("*.py"), *(root / "examples").rglob("*.py")]
    return {
        ".".join(path.relative_to(root).with_suffix("").parts): ast.parse(path.read_text()) for path in files
    }


def test_every_keyword_is_passed_somewhere(
    offered: Mapping[str, set[str]], trees: Mapping[str, ast.Module]
) -> None:
    given = _given(trees, offered)

    assert "UltraCluster.add_queue" in offered
    assert "zone_id" in offered["ClusterNetwork.from_subnet"]
    assert "neuron" in offered["FabricGate"]
    assert "attempts" in offered["UltraCluster.add_multi_node_job"]
    assert "max_price_percent" in offered["Spot"]
    missing = {
        called: sorted(keywords - {keyword for name, keyword in given if name == called})
        for called, keywords in offered.items()
    }
    assert {called: keywords for called, keywords in missing.items() if keywords} == {}


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


@pytest.mark.parametrize(
    ("documented", "undocumented"),
    [
        ("Args:\n        size: Its size.\n        colour: Its colour.", set()),
        ("Args:\n        size: Its size.", {"colour"}),
        ("It has a size.", set()),
    ],
)
def test_an_undocumented_argument_is_seen(documented: str, undocumented: set[str]) -> None:
    code = (
        f'def make(scope, construct_id, *, size, colour):\n    """Make a thing.\n\n    {documented}\n    """'
    )
    (function,) = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)

    assert _undocumented(function) == undocumented


OFFERED = {"Thing": {"colour", "size"}, "Thing.paint": {"coats"}}


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("Thing(stack, colour=1)", {("Thing", "colour")}),
        ("uc.Thing(stack, size=1)", {("Thing", "size")}),
        ("thing.paint(coats=2)", {("Thing.paint", "coats")}),
        ("Thing(stack, weight=1)", set()),
        ("Other(stack, colour=1)", set()),
        ("def make(**more):\n    return Thing(stack, **more)\n\nmake(colour=1)", {("Thing", "colour")}),
        ("def make():\n    return Thing(stack)\n\nmake(colour=1)", set()),
        ("CHANGES = [{'size': 1}]\nThing(stack, **CHANGES[0])", {("Thing", "size")}),
        ("CHANGES = [{'size': 1}]\nThing(stack)", set()),
        ("def test(kind: type[Thing] | type[Other]):\n    kind(stack, size=1)", {("Thing", "size")}),
        ("def test(kind: type[Other]):\n    kind(stack, size=1)", set()),
    ],
)
def test_each_argument_has_an_effect(code: str, given: set[Argument]) -> None:
    assert _given({"tests.some": ast.parse(code)}, OFFERED) == given


def test_a_helper_of_another_module_is_seen() -> None:
    helper = ast.parse("def make(**more):\n    return Thing(stack, **more)")
    test = ast.parse("from tests.helpers import make as made\n\nmade(size=1)")

    assert _given({"tests.helpers": helper, "tests.some": test}, OFFERED) == {("Thing", "size")}


def _given(trees: Mapping[str, ast.Module], offered: Mapping[str, set[str]]) -> set[Argument]:
    helpers: dict[tuple[str, str], set[str]] = {}
    imports = {module: _imported_names(tree) for module, tree in trees.items()}
    passing = [
        (module, function.name, calls)
        for module, tree in trees.items()
        for function in _functions(tree)
        if (calls := _calls_that_pass_on(function))
    ]
    while True:  # a helper may call a helper
        found = {
            (module, name): passed
            for module, name, calls in passing
            if (
                passed := {
                    called
                    for call in calls
                    for called in _called(call, module, imports[module], offered, helpers)
                }
            )
        }
        if found == helpers:
            break
        helpers = found
    given = set()
    for module, tree in trees.items():
        imported = imports[module]
        parametrized = _classes_of_parameters(tree, offered)
        beside: set[str] | None = None
        for call in _calls(tree):
            for called in _called(call, module, imported, offered, helpers) | parametrized.get(call, set()):
                keywords = {each.arg for each in call.keywords if each.arg}
                if any(each.arg is None for each in call.keywords):
                    if beside is None:
                        beside = _keys(tree)
                    keywords |= beside
                given |= {(called, keyword) for keyword in keywords & offered[called]}
    return given


def _calls_that_pass_on(function: ast.FunctionDef) -> list[ast.Call]:
    """What a function calls with keywords that it was given itself."""
    if function.args.kwarg is None:
        return []
    return [call for call in _calls(function) if any(each.arg is None for each in call.keywords)]


def _classes_of_parameters(tree: ast.Module, offered: Mapping[str, set[str]]) -> dict[ast.Call, set[str]]:
    """Classes that a call means by the name of a parameter of its function, such as `kind: type[One] | type[Other]`."""
    found = {}
    for function in _functions(tree):
        meant = {
            parameter.arg: {node.id for node in ast.walk(parameter.annotation) if isinstance(node, ast.Name)}
            for parameter in (*function.args.args, *function.args.kwonlyargs)
            if parameter.annotation is not None
        }
        for call in _calls(function):
            if isinstance(call.func, ast.Name) and call.func.id in meant:
                found[call] = meant[call.func.id] & offered.keys()
    return found


def _called(
    call: ast.Call,
    module: str,
    imported: Mapping[str, tuple[str, str]],
    offered: Mapping[str, set[str]],
    helpers: Mapping[tuple[str, str], set[str]],
) -> set[str]:
    match call.func:
        case ast.Name(id=name):
            helper = helpers.get(imported.get(name, (module, name)), set())
            return helper | ({name} & offered.keys())
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
            own = {f"{owner}.{name}", name} & offered.keys()
            return own or {each for each in offered if each.endswith(f".{name}")}
        case ast.Attribute(attr=name):
            return {each for each in offered if each.endswith(f".{name}")}
    return set()


def _imported_names(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Module and name of what a module imports from others, also for type checkers only, by the name that it has here."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _with_bases(modules: Mapping[str, ast.Module], module: str, name: str) -> Iterator[ast.ClassDef]:
    """A class and those of ours that it extends, the nearest first."""
    definition = _classes(modules[module])[name]
    yield definition
    imported = _imported_names(modules[module])
    for base in definition.bases:
        if isinstance(base, ast.Name):
            where, original = imported.get(base.id, (module, base.id))
            if original in _classes(modules.get(where, ast.Module([], []))):
                yield from _with_bases(modules, where, original)


def _classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _functions(tree: ast.Module | ast.ClassDef) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _keys(tree: ast.Module) -> set[str]:
    """Keys of the dictionaries of a module."""
    keys = [key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]
    return {key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _keywords(function: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in function.args.kwonlyargs}


def _options(modules: Mapping[str, ast.Module], function: ast.FunctionDef) -> set[str]:
    """Keywords that a function takes by `**options: Unpack[SomeTypedDict]`."""
    match function.args.kwarg:
        case ast.arg(annotation=ast.Subscript(value=ast.Name(id="Unpack"), slice=ast.Name(id=name))):
            defining = next(module for module, tree in modules.items() if name in _classes(tree))
            return set().union(*map(_fields, _with_bases(modules, defining, name)))
    return set()


def _is_dataclass(definition: ast.ClassDef) -> bool:
    return any("dataclass" in ast.dump(decorator) for decorator in definition.decorator_list)


def _fields(definition: ast.ClassDef) -> set[str]:
    return {
        node.target.id
        for node in definition.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and "ClassVar" not in ast.dump(node.annotation)
    }
