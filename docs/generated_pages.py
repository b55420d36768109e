"""Write the pages of the site that come from the code: API, commands, rollout file, rules and gallery.

They go to ``docs/reference/generated`` and ``docs/gallery/generated``, which are not committed; `make docs` runs this first.
"""

import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from gallery_pages import gallery_pages
from rules_page import rules_page
from typer.testing import CliRunner

import ultracluster
from ultracluster_cli.main import COMMANDS, app, load_command

__all__ = ["generated_pages"]

RUNTIME_MODULES: Final = ("checkpoints", "training_metrics", "bake_off", "service_jobs")
"""Modules of `ultracluster_runtime` that programs import."""

_REFERENCE: Final = Path(__file__).parent / "reference" / "generated"
_GALLERY: Final = Path(__file__).parent / "gallery" / "generated"
_SCHEMA: Final = Path(__file__).parent / "rollout.schema.json"
_COMMAND_PAGE: Final = """\
# Commands

The `--help` of every command. What the commands have in common is in [the command line](../command-line.md).
"""
_ROLLOUT_PAGE: Final = """\
# Rollout file

Every key of a rollout file, from its values. Editors complete and check the keys with the
[JSON schema](../../rollout.schema.json).
"""


def generated_pages() -> dict[str, str]:
    """Return the text of each generated page by the name of its file."""
    return {
        "constructs.rst": "\n".join(_constructs()),
        "runtime.rst": "\n".join(_runtime()),
        "commands.md": "\n".join([_COMMAND_PAGE, *_commands()]),
        "rollout-file.md": "\n".join([_ROLLOUT_PAGE, *_rollout_file()]),
        "rules.md": rules_page(),
    }


def _constructs() -> Iterator[str]:
    """Yield the public names of `ultracluster`, grouped by the package that defines them."""
    yield from _title("Constructs", "=")
    yield "All names are imported from ``ultracluster``.\n"
    packages: dict[str, list[str]] = {}
    for name in ultracluster.__all__:
        package = getattr(ultracluster, name).__module__.rpartition(".")[0]
        own = package.startswith("ultracluster.") or package == "ultracluster_spec"
        packages.setdefault(package if own else "", []).append(name)
    for package, names in sorted(packages.items()):
        description = importlib.import_module(package).__doc__ if package else "Types from other packages."
        yield from _title((description or package).strip().splitlines()[0].rstrip("."), "-")
        yield ".. autosummary::\n   :toctree: api\n   :nosignatures:\n"
        yield from (f"   ~ultracluster.{name}" for name in names)
        yield ""


def _runtime() -> Iterator[str]:
    yield from _title("Runtime", "=")
    yield "Modules for training programs; import them from ``ultracluster_runtime``.\n"
    for module in RUNTIME_MODULES:
        yield from _title(f"ultracluster_runtime.{module}", "-")
        yield f".. automodule:: ultracluster_runtime.{module}\n"


def _title(text: str, underline: str) -> Iterator[str]:
    yield from (text, underline * len(text), "")


def _commands() -> Iterator[str]:
    for name in sorted(COMMANDS):
        yield f"## {name}\n"
        yield from _help(name)
        for command in getattr(load_command(name), "commands", {}):
            yield f"### {name} {command}\n"
            yield from _help(name, command)


def _help(*command: str) -> Iterator[str]:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="ultracluster", env={"COLUMNS": "100"})
    if result.exit_code:
        raise RuntimeError(f"`ultracluster {' '.join(command)} --help` failed: {result.output}")
    yield f"```text\n{result.output.strip()}\n```\n"


def _rollout_file() -> Iterator[str]:
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    yield from _keys("The file", schema)
    # A wave contains clusters, which contain everything else.
    first = ["Wave", "Cluster"]
    for name in [*first, *sorted(schema["$defs"].keys() - first)]:
        yield from _keys(_heading(name), schema["$defs"][name])


def _heading(definition: str) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in definition)
    return words.removesuffix(" config").strip().capitalize()


def _keys(heading: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {heading}\n"
    yield f"{schema.get('description', '')}\n"
    yield "| key | type | description |\n|---|---|---|"
    for key, value in schema["properties"].items():
        required = " (required)" if key in schema.get("required", ()) else ""
        description = value.get("description", "").replace("|", r"\|")
        yield f"| `{key}`{required} | {_type(value)} | {description} |"
    yield ""


def _type(value: Mapping[str, Any]) -> str:
    """Describe the type of a key, with a link where it has keys of its own."""
    if "$ref" in value:
        heading = _heading(value["$ref"].rpartition("/")[2])
        return f"[{heading.lower()}](#{heading.lower().replace(' ', '-')})"
    if "enum" in value or "const" in value:
        return " or ".join(f"`{choice}`" for choice in value.get("enum", [value.get("const")]))
    if "anyOf" in value:
        kinds = [_type(choice) for choice in value["anyOf"] if choice.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    if isinstance(value.get("additionalProperties"), dict):
        return f"mapping to {_type(value['additionalProperties'])}"
    return str(value.get("type", "any"))


def _main() -> None:
    for folder, pages in ((_REFERENCE, generated_pages()), (_GALLERY, gallery_pages())):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _main()
