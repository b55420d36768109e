"""Collects the outputs of one group as JSON on stdout: `python -m tests.same.outputs GROUP [NAME] FOLDER`.

It names no module that a refactoring may move: apps and commands run as users run them, and of the packages only what is
public is imported.
"""

import contextlib
import datetime as dt
import importlib
import io
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.golden.configurations import EXPORTED, NEXT, configurations
from tests.rule_examples import EXAMPLES, Kind

from ultracluster_cli.main import app as command_line
from ultracluster_cli.main import main as run_command_line

__all__: list[str] = []

Texts = dict[str, str]

_ROOT: Final = Path(__file__).parents[2]
_SOURCE_ROOTS: Final = ("constructs", "stacks", "cli", "localaws")
_DOCUMENTED_MODULES: Final = (
    "ultracluster_runtime.checkpoints",
    "ultracluster_runtime.training_metrics",
    "ultracluster_runtime.bake_off",
    "ultracluster_runtime.service_jobs",
    "ultracluster_local.pytest_plugin",
)
# What the CDK CLI adds to the context of cdk.json.
_CONTEXT: Final = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": True,
    "aws:cdk:version-reporting": False,
    "aws:cdk:bundling-stacks": ["**"],
    "cache": False,
    "processes": 1,
}
_CLUSTER: Final = {
    "name": "train",
    "region": "us-east-2",
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "nodes": "4",
    "image_id": "ami-0123456789abcdef0",
    "capacity": "{reservation_id: cr-0123456789abcdef0}",
}
_MASK: Final = "<hash of an asset>"


# Templates


def synthesized(name: str, folder: Path) -> Texts:
    """Run the app of a configuration as the CDK CLI does, and read the assembly."""
    source = configurations(NEXT)[name]
    own_app = source.suffix == ".py"
    context = json.loads((_ROOT / "cdk.json").read_text("utf-8"))["context"] | _CONTEXT
    context["rollout"] = str(source.relative_to(_ROOT))
    environment = {
        "CDK_OUTDIR": str(folder / name),
        "CDK_CONTEXT_JSON": json.dumps(context),
        "CDK_VALIDATION": "false",
    }
    app = source if own_app else _ROOT / "app.py"
    subprocess.run(
        [sys.executable, str(app)], cwd=_ROOT, env=os.environ | environment, stdout=sys.stderr, check=True
    )
    return assembly_texts(name, folder / name)


def assembly_texts(name: str, assembly: Path) -> Texts:
    """Read templates and manifests without the hashes of assets, which are outputs of their own."""
    texts = {
        str(path.relative_to(assembly)): path.read_text("utf-8")
        for path in sorted(assembly.rglob("*.json"))
        if path.name != "tree.json" and not any(part.startswith("asset.") for part in path.parts)
    }
    assets = {
        key: f"{path.removesuffix('.assets.json')}: {file['displayName']}"
        for path, text in texts.items()
        if path.endswith(".assets.json")
        for kind in ("files", "dockerImages")
        for key, file in json.loads(text).get(kind, {}).items()
    }
    hashes = {re.sub(r"[^0-9a-f].*", "", key) for key in assets}
    found = {f"templates/{name}/{path}": _masked(text, hashes) for path, text in texts.items()}
    code = {place: key for key, place in assets.items() if not place.endswith("Template")}
    return found | {f"assets/{name}/{place}": key for place, key in code.items()}


def _masked(text: str, hashes: set[str]) -> str:
    return json.dumps(
        _without_traces(json.loads(_without_hashes(text, hashes))), indent=1
    )  # a property on each line


def _without_hashes(text: str, hashes: set[str]) -> str:
    return re.sub(r"\b[0-9a-f]{64}", lambda found: _MASK if found[0] in hashes else found[0], text)


def _without_traces(value: Any) -> Any:
    """Leave out the stack traces of an assembly, which name temporary folders."""
    if isinstance(value, dict):
        return {key: _without_traces(part) for key, part in value.items() if key != "trace"}
    if isinstance(value, list):
        return [_without_traces(part) for part in value if not _is_trace(part)]
    return value


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "aws:cdk:creationStack"


def exported(name: str, folder: Path) -> Texts:
    """Run `ultracluster export`."""
    output = folder / f"exported-{name}"
    texts = _command(f"export {name}", "export", _path_of(name), "--output", str(output), "--json")
    hashes = {path.name.partition(".")[0] for path in (output / "assets").glob("*")}
    return {key: _without_hashes(text, hashes) for key, text in texts.items()} | {
        f"templates/{name}/exported/{path.relative_to(output)}": _without_hashes(
            path.read_text("utf-8"), hashes
        )
        for path in sorted(output.rglob("*"))
        if path.suffix in {".json", ".md", ".yaml", ".txt"}
    }


# The command line


def helps() -> Texts:
    """Ask every command and subcommand for its help."""
    import typer

    def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield path
        for name, below in sorted(getattr(command, "commands", {}).items()):
            yield from commands(below, (*path, name))

    texts: Texts = {}
    for path in commands(typer.main.get_command(command_line), ()):
        texts |= _command(" ".join([*path, "--help"]), *path, "--help")
    return texts


def answers() -> Texts:
    """Run the commands that need neither AWS nor the CDK."""
    texts = {f"rules/{rule['code']}": json.dumps(rule, indent=1) for rule in _rules()}
    for name in _rollouts():
        path = _path_of(name)
        texts |= _command(f"validate {name}", "validate", path)
        texts |= _command(f"validate {name} --json", "validate", path, "--json")
        texts |= _command(f"explain {name} --json", "validate", path, "--explain", "--json")
        texts |= _command(f"cost {name}", "cost", "estimate", path)
        texts |= _command(f"cost {name} --json", "cost", "estimate", path, "--json")
    return texts


def checked(folder: Path) -> Texts:
    """Run `ultracluster validate` on the assemblies."""
    texts: Texts = {}
    for name in configurations(NEXT):
        texts |= _command(f"check {name} --json", "validate", str(folder / name), "--json")
    return texts


def planned(folder: Path) -> Texts:
    """Compare two rollouts with the assembly of the other."""
    texts: Texts = {}
    for name, other in (("two-waves.yaml", "quickstart.yaml"), ("quickstart.yaml", "quickstart.yaml")):
        for form in ("--json", "--markdown"):
            label = f"plan {name} {form} against {other}"
            texts |= _command(label, "plan", _path_of(name), "--against", str(folder / other), form)
    return texts


def _rules() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = json.loads(_told("docs", "rules", "--json").partition("\n")[2])["rules"]
    return rules


def _rollouts() -> list[str]:
    return [name for name in configurations(NEXT) if name.endswith(".yaml")]


def _path_of(name: str) -> str:
    return str(configurations(NEXT)[name].relative_to(_ROOT))


def _command(label: str, *arguments: str) -> Texts:
    return {f"commands/{label}": _told(*arguments)}


def _told(*arguments: str) -> str:
    """Exit code, stdout and stderr of a command, which runs in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command_line(list(arguments))
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return f"exit code {code}\n{out.getvalue()}{err.getvalue()}".replace(today, "TODAY")


# What is refused


def bad_inputs(folder: Path) -> Texts:
    """Validate every row of the tables of bad inputs."""
    texts: Texts = {}
    with contextlib.chdir(_empty(folder / "bad-inputs")):
        for path in sorted((_ROOT / "tests").rglob("bad_inputs/test_*.py")):
            module = importlib.import_module(".".join(path.relative_to(_ROOT).with_suffix("").parts))
            rows = getattr(module, "ROWS", None)
            for row in rows if isinstance(rows, list) else []:
                Path("rollout.yaml").write_bytes(row.text.encode("utf-8", "surrogatepass"))
                texts[f"bad inputs/{path.stem}/{row}"] = _told("validate", "rollout.yaml")
    return texts


def rule_examples(folder: Path) -> Texts:
    """Run the failing example of every rule that has one which can be executed."""
    run: Mapping[Kind, Callable[[str], str]] = {
        "rollout": _rollout_example,
        "template": _template_example,
        "python": _python_examples(),
    }
    with contextlib.chdir(_empty(folder / "examples")):
        return {
            f"examples/{code}": run[kind](example.fails)
            for kind, examples in EXAMPLES.items()
            for code, example in examples.items()
        }


def _rollout_example(example: str) -> str:
    text = example
    if not example.lstrip().startswith("version:"):
        own = re.findall(r"^(\w+):", example, re.MULTILINE)
        lines = [f"{key}: {value}" for key, value in _CLUSTER.items() if key not in own]
        body = textwrap.indent("\n".join([*lines, *example.strip().splitlines()]), " " * 8)
        text = f"version: 1\nwaves:\n  - name: first\n    clusters:\n      -\n{body}\n"
    Path("rollout.yaml").write_text(text, encoding="utf-8")
    return _told("validate", "rollout.yaml")


def _template_example(example: str) -> str:
    text = "Resources:\n" + textwrap.indent(example.strip("\n"), "  ")
    Path("template.yaml").write_text(text, encoding="utf-8")
    return _told("validate", "template.yaml", "--region", "us-east-2")


def _python_examples() -> Callable[[str], str]:
    """Make a function that runs an example in a stack of its own and gives what it raises, returns or warns of."""
    import aws_cdk as cdk
    from tests.unit.ultracluster.test_rule_examples import Names

    app = cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)

    def run(example: str) -> str:
        stack = cdk.Stack(app, f"Example{len(app.node.children)}", env=cdk.Environment(region="us-east-2"))
        try:
            given = eval(example, {}, Names(stack=stack))  # noqa: S307 - a text of our own package
        except ValueError as error:  # findings
            return str(error)
        if isinstance(given, list):
            return "\n".join(map(str, given))
        return "\n".join(
            f"{node.node.path.partition('/')[2]}: {entry.data}"
            for node in stack.node.find_all()
            for entry in node.node.metadata
            if entry.type in {"aws:cdk:warning", "aws:cdk:error"}
        )

    return run


def _empty(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


# What can be imported


def public_names() -> Texts:
    """List the public names of every package and of the modules that are documented by their path."""
    packages = [path.parent.name for root in _SOURCE_ROOTS for path in (_ROOT / root).glob("*/__init__.py")]
    return {
        f"public names/{name}": "\n".join(sorted(importlib.import_module(name).__all__))
        for name in (*packages, *_DOCUMENTED_MODULES)
    }


def _groups() -> list[list[str]]:
    names = [["synthesized", name] for name in configurations(NEXT)]
    exports = [["exported", name] for name in configurations(NEXT) if name.endswith(EXPORTED)]
    return [["examples"], *exports, *names, ["bad-inputs"], ["helps"], ["answers"], ["public-names"]]


def _main(group: str, *names: str) -> None:
    folder = Path(names[-1])
    collect: Mapping[str, Callable[[], Any]] = {
        "groups": _groups,
        "synthesized": lambda: synthesized(names[0], folder),
        "exported": lambda: exported(names[0], folder),
        "helps": helps,
        "answers": answers,
        "bad-inputs": lambda: bad_inputs(folder),
        "examples": lambda: rule_examples(folder),
        "public-names": public_names,
        "check": lambda: checked(folder),
        "plan": lambda: planned(folder),
    }
    result = json.dumps(collect[group]())
    sys.stdout.write(result.replace(str(folder), "FOLDER").replace(str(_ROOT), "ROOT"))


if __name__ == "__main__":
    _main(*sys.argv[1:])
