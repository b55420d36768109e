"""The page of all rules, rendered from their records and the examples of the tests."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from tests.rule_examples import EXAMPLES, Kind

from ultracluster_cli.records import ALL_RECORDS
from ultracluster_spec.record import RuleRecord

__all__ = ["rules_page"]

_HEAD: Final = """\
# The rules

Every finding begins with the code of a rule. A code keeps its meaning for ever and is never used again. `ultracluster docs UC4105` prints
the entry of a rule, `ultracluster docs rules` lists all of them, and `--json` gives both to programs.

* An **error** stops the work. A **warning** is shown, and the work goes on.
* All findings of a file, or of a construct, are shown together, each with its place.
* Examples of rollout files are keys of one cluster, or a whole file. The tests run each of them through the loader, and each example in
  Python through the constructs: the first one breaks the rule, the second one keeps it.
* A source with a date was read then. A source without one names where the fact is published; it was not read again for this page.
"""

_FENCES: Final[dict[Kind, str]] = {"rollout": "yaml", "python": "python", "template": "yaml"}

_TITLES: Final = {
    "UC10": "The rollout file, its YAML, and numbers",
    "UC21": "Names, Regions, accounts and tags",
    "UC22": "Clusters, orders, environments and profiles",
    "UC30": "Addresses and zones",
    "UC31": "The network of a cluster",
    "UC32": "Networks of templates",
    "UC40": "Instance types, interfaces, placement and AMIs",
    "UC41": "Capacity and its sources",
    "UC42": "Nodes and compute environments of templates",
    "UC50": "File systems",
    "UC51": "Keys, buckets and copies",
    "UC52": "Storage of templates; encryption of copies",
    "UC60": "Neuron settings and the compile cache",
    "UC61": "Jobs, gates and bake-offs",
    "UC62": "Commands about jobs",
    "UC63": "Queues, container images, SageMaker and budgets",
    "UC64": "Containers and rights in templates; metrics, alarms and dashboards",
    "UC70": "Buying capacity: orders, the ledger, purchases",
    "UC71": "Capacity Blocks",
    "UC72": "Roles of capacity",
    "UC80": "The local AWS",
    "UC90": "Commands that deploy, and the demo",
    "UC91": "Synthesis",
    "UC92": "Plans and new projects",
    "UC93": "Costs, metrics and reports",
    "UC94": "What preflight finds in an account",
    "UC95": "The rules themselves, and the check of templates",
    "UC96": "Rollouts in waves, exported templates, placement and limits",
    "UC97": "Rehearsals",
}
"""What the codes that begin so are about."""


def rules_page() -> str:
    """Render the page as Markdown."""
    return "\n".join([_HEAD, *_contents(), *_entries()]).rstrip() + "\n"


def _sections() -> Iterator[tuple[str, list[RuleRecord]]]:
    for prefix, records in groupby(ALL_RECORDS.values(), key=lambda record: record.code[:4]):
        yield f"{prefix}, {_TITLES[prefix]}", list(records)


def _contents() -> Iterator[str]:
    yield "## Contents\n"
    for title, records in _sections():
        codes = " ".join(f"[{record.code[-2:]}](#{record.code.lower()})" for record in records)
        yield f"* **{title}**: {codes}"
    yield ""


def _entries() -> Iterator[str]:
    for title, records in _sections():
        yield f"## {title}\n"
        for record in records:
            yield from _entry(record)


def _entry(record: RuleRecord) -> Iterator[str]:
    suppressible = ", can be switched off" if record.suppressible else ""
    yield f"### {record.code}\n"
    yield f"{record.summary} ({record.severity}{suppressible})\n"
    for kind, examples in EXAMPLES.items():
        if example := examples.get(record.code):
            yield _example("Breaks it", kind, example.fails)
            yield _example("Keeps it", kind, example.passes)
    yield f"What to do: {record.remedy}\n"
    yield f"Source: {record.source}\n"


def _example(title: str, kind: Kind, text: str) -> str:
    return f"{title}:\n\n```{_FENCES[kind]}\n{text.strip()}\n```\n"
