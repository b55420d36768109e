"""What an update from each released version to today's code would do to the configurations of that version."""

from collections.abc import Mapping
from pathlib import Path

from tests.golden.configurations import NEXT, configurations, released, templates_of
from tests.golden.kept import read_kept, text_of
from tests.golden.resource_changes import named_since, unexplained, unused
from tests.golden.synthesis import synthesize

from ultracluster_stacks.plan import Plan, StackTemplate, compare

__all__ = ["problems"]

Stacks = Mapping[str, list[StackTemplate]]


def problems(golden: Path, *, changelog: str, today: Stacks, folder: Path) -> list[str]:
    """Say what updates would do and the changelog does not name, and what it names and they do not do.

    Args:
        golden: The folder of all versions.
        changelog: The text of the changelog.
        today: What the configurations of the next version give; what is the same in a released one is not synthesized again.
        folder: An empty folder for assemblies.
    """
    found = []
    plans: list[Plan] = []
    for version in released(golden):
        plans = _plans(version, today, folder / version.name)
        named = named_since(changelog, version.name)
        found += [f"{version.name}: {each}" for plan in plans for each in unexplained(plan, named)]
    newest = [version.name for version in released(golden)][-1:]
    named = named_since(changelog, *newest) if newest else named_since(changelog, None)
    return found + [
        f"nothing does what the changelog names under Resource changes: {word}"
        for word in unused(plans, named)
    ]


def _plans(version: Path, today: Stacks, folder: Path) -> list[Plan]:
    sources, now = configurations(version), configurations(NEXT)
    same = {
        name for name, path in sources.items() if name in now and path.read_bytes() == now[name].read_bytes()
    }
    others = synthesize({name: path for name, path in sources.items() if name not in same}, folder)
    return [
        compare(
            read_kept(templates_of(version, name).read_text("utf-8")),
            read_kept(text_of(today[name] if name in same else others[name])),
        )
        for name in sources
    ]
