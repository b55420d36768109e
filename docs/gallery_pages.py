"""The gallery: each ready rollout and example with its topology, its cost and what it deploys, from the product."""

import ast
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.golden.configurations import configurations
from tests.golden.synthesis import stacks_of
from typer.testing import CliRunner

from ultracluster_catalog.prices.prices import capacity_block_price
from ultracluster_cli.main import app
from ultracluster_cli.pictures.costs import draw_costs
from ultracluster_cli.pictures.timeline import Block, draw_block
from ultracluster_cli.pictures.topology import draw_cluster, read_topology
from ultracluster_runtime.functions.window import BlockWindow
from ultracluster_stacks.cost import Usage, catalogue_prices, estimate_cost, template_footprint
from ultracluster_stacks.plan import StackTemplate

__all__ = ["gallery_pages"]

_ROOT: Final = Path(__file__).parents[1]
_ROLLOUTS: Final = (
    *sorted(_ROOT.glob("stacks/rollouts/*.yaml")),
    _ROOT / "examples/llama-pretrain/rollout.yaml",
)
_APPS: Final = tuple(sorted(_ROOT.glob("examples/*/app.py")))


def gallery_pages() -> dict[str, str]:
    """Return the text of each page and picture of the gallery by the name of its file."""
    pages = {"timeline.svg": draw_block(_example_block()).svg()}
    for path in (*_ROLLOUTS, *_APPS):
        name = path.stem if path.parent.name == "rollouts" else path.parent.name
        stacks = _stacks(path)
        pictures = dict(_pictures(name, stacks))
        pages |= {file: picture for file, (_, picture, _) in pictures.items()}
        text, pages[f"{name}-cost.svg"] = _cost(path, stacks)
        pages[f"{name}.md"] = "\n".join(_page(name, path, pictures, cost=text))
    return pages


def _example_block() -> Block:
    start = datetime(2026, 1, 1, 11, 30, tzinfo=UTC)  # any: the picture shows no date
    price = capacity_block_price("trn2.48xlarge", "us-east-2").amount
    window = BlockWindow(start=start, end=start + timedelta(days=14))
    return Block(name="A Capacity Block of trn2.48xlarge", window=window, nodes=4, node_hour=price)


def _stacks(path: Path) -> list[StackTemplate]:
    """Return the templates of an app or a rollout file; none of one that is no configuration of the golden tests."""
    name = f"{path.parent.name}.py" if path.suffix == ".py" else path.name
    return stacks_of(name) if name in configurations() else []


def _pictures(
    name: str, stacks: list[StackTemplate]
) -> Iterator[tuple[str, tuple[str, str, list[StackTemplate]]]]:
    """Yield the file of each cluster's picture with the name of the cluster, the picture and its stacks."""
    for number, cluster in enumerate(dict.fromkeys(stack.cluster for stack in stacks), 1):
        own = [stack for stack in stacks if stack.cluster == cluster]
        title = cluster or name
        topology = read_topology(own, name=title)
        if any(box.lines for box in topology.boxes.values()):
            yield f"{name}-{number}.svg", (title, draw_cluster(topology).svg(), own)


def _cost(path: Path, stacks: list[StackTemplate]) -> tuple[str, str]:
    """Return the cost of a rollout file as the command prints and draws it; of an app, that of a day of its templates."""
    if path.suffix == ".py":
        estimates = [
            estimate_cost(
                template_footprint(
                    cluster or path.parent.name, [stack for stack in stacks if stack.cluster == cluster]
                ),
                usage=Usage(hours=Decimal(24)),
                prices=catalogue_prices(),
            )
            for cluster in dict.fromkeys(stack.cluster for stack in stacks)
        ]
        return "", draw_costs(estimates).svg() if estimates else ""
    with TemporaryDirectory() as folder:
        picture = Path(folder) / "cost.svg"
        result = CliRunner().invoke(
            app,
            ["cost", str(path), "--picture", str(picture)],
            prog_name="ultracluster",
            env={"COLUMNS": "110"},
        )
        if result.exit_code:
            raise RuntimeError(result.output)
        return result.stdout.strip(), picture.read_text("utf-8")


def _page(
    name: str, path: Path, pictures: dict[str, tuple[str, str, list[StackTemplate]]], *, cost: str
) -> Iterator[str]:
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
    if pictures:
        yield f"## Cost\n\n![Cost of {name} as stacked bars, with the unknown parts]({name}-cost.svg)\n"
    if cost:
        yield f"```text\n{cost}\n```\n"
    yield f"## The file\n\n```{'python' if path.suffix == '.py' else 'yaml'}\n{text.strip()}\n```\n"
