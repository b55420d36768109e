"""The gallery: each ready rollout and example with its topology, its cost and what it deploys, from the product."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pictures import timeline, topology
from tests.golden.kept import read_kept
from typer.testing import CliRunner

from ultracluster_cli.main import app
from ultracluster_cli.plan.picture import boxes_of
from ultracluster_stacks.plan import Plan, StackTemplate

__all__ = ["gallery_pages"]

_ROOT: Final = Path(__file__).parents[1]
_ROLLOUTS: Final = (
    *sorted(_ROOT.glob("stacks/rollouts/*.yaml")),
    _ROOT / "examples/llama-pretrain/rollout.yaml",
)
_APPS: Final = tuple(sorted(_ROOT.glob("examples/*/app.py")))


def gallery_pages() -> dict[str, str]:
    """Return the text of each page and picture of the gallery by the name of its file."""
    pages = {"timeline.svg": timeline(days=14, nodes=4)}
    for path in (*_ROLLOUTS, *_APPS):
        name = path.stem if path.parent.name == "rollouts" else path.parent.name
        pictures = dict(_pictures(name, _stacks(path)))
        pages |= {file: picture for file, (_, picture, _) in pictures.items()}
        pages[f"{name}.md"] = "\n".join(_page(name, path, pictures))
    return pages


def _stacks(path: Path) -> list[StackTemplate]:
    """Read the templates of an app or a rollout file that the golden tests hold current; none of those it has not."""
    name = f"{path.parent.name}.py" if path.suffix == ".py" else path.name
    kept = _ROOT / "tests/golden/next" / f"{name}.json"
    return [_named(stack) for stack in read_kept(kept.read_text("utf-8"))] if kept.exists() else []


def _named(stack: StackTemplate) -> StackTemplate:
    """Name each resource by its logical ID without the hash at its end."""
    return replace(stack, paths={key: re.sub(r"(Resource)?[0-9A-F]{8}$", "", key) for key in stack.resources})


def _pictures(
    name: str, stacks: list[StackTemplate]
) -> Iterator[tuple[str, tuple[str, str, list[StackTemplate]]]]:
    """Yield the file of each cluster's picture with the name of the cluster, the picture and its stacks."""
    for number, cluster in enumerate(dict.fromkeys(stack.cluster for stack in stacks), 1):
        own = [stack for stack in stacks if stack.cluster == cluster]
        title = cluster or name
        boxes = boxes_of(Plan(stacks=()), own)
        if any(box.lines for box in boxes):
            yield f"{name}-{number}.svg", (title, topology(boxes, name=title), own)


def _page(name: str, path: Path, pictures: dict[str, tuple[str, str, list[StackTemplate]]]) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    yield f"# {name}\n"
    if path.suffix == ".py":
        yield f"{(ast.get_docstring(ast.parse(text)) or '').splitlines()[0]}\n"
        yield f"```bash\nultracluster init my-cluster --example {name}\n```\n"
    else:
        yield f"A rollout file: `{path.relative_to(_ROOT).as_posix()}`.\n"
    for file, (title, _, stacks) in pictures.items():
        yield f"## {title}\n"
        yield f"![Topology of {title}: queue, network, nodes, storage]({file})\n"
        yield "| stack | resources | most frequent |\n|---|---|---|"
        for stack in stacks:
            kinds = Counter(resource["Type"].removeprefix("AWS::") for resource in stack.resources.values())
            frequent = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3))
            yield f"| {stack.name} | {len(stack.resources)} | {frequent} |"
        yield ""
    if path.suffix == ".yaml":
        result = CliRunner().invoke(
            app, ["cost", str(path)], prog_name="ultracluster", env={"COLUMNS": "110"}
        )
        if result.exit_code:
            raise RuntimeError(result.output)
        yield f"## Cost\n\n```text\n{result.stdout.strip()}\n```\n"
    yield f"## The file\n\n```{'python' if path.suffix == '.py' else 'yaml'}\n{text.strip()}\n```\n"
