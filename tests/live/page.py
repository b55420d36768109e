"""docs/evidence/live-checks.md and the table that preflight reads, generated from the questions and the records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.journal import SHOWN
from tests.live.plan import questions
from tests.live.question import TIERS, Question, ordered
from tests.live.records import verdicts

__all__ = ["DECIDES", "PAGE", "facts", "page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "live-checks.md"

DECIDES: Final[Mapping[str, tuple[str, ...]]] = {
    "Batch into a block: which of the two roads to the block is the default": (
        "L110", "L111", "L1", "L2", "L3", "L5", "L10", "L11",
    ),
    "The Auto Scaling road of [decision 0024](../decisions/0024-auto-scaling-road.md): whether it can be built": (
        "L120", "L121", "L122", "L123", "L124", "L125", "L126", "L127", "L128",
    ),
    "Facts of the catalogue, which can be read for nothing: what must be corrected before anything is deployed": (
        "L107", "L108", "L109", "L76", "L75",
    ),
    "Purchases: which refusals are safe to repeat, and who can be kept from buying": (
        "L36", "L20", "L21", "L30", "L33", "L31", "L78",
    ),
    "Clusters on small nodes: whether templates, updates and queues need another design": (
        "L117", "L83", "L8", "L4", "L103", "L63", "L41", "L9",
    ),
    "Whole nodes of 16 chips: whether the paid work can begin": ("L118", "L119", "L7"),
}  # fmt: skip
"""What the answers decide, most important first, and the questions, in the order in which they decide it."""

_HEAD: Final = """# What only a real AWS account can show

<!-- Written by `make live DO=publish` from tests/live and its records; edit those. -->

Everything in this repository is tested against the CDK, the CloudFormation registry schemas, botocore's service models and a
local AWS. None of these launches an instance. These are the {count} questions whose answer changes a decision, most important first. {tested} have a test in `tests/live`, whose
docstring has the steps; the others have steps to follow by hand in `tests/live/by_hand.py`. A run asks free questions first, then by cost.

```console
make live DO=plan UNTIL=2                           # lists the tests in order, with limits and worst cases; needs no account
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012    # runs the tests in an account; UNTIL is the highest tier
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012 RUN=261122ab12   # resumes an interrupted run
make live DO=clean RUN=261122ab12 ACCOUNT=123456789012 # removes what a run left behind
make live DO=publish                                # writes this page from the records
```

- **Use a dedicated test account.** A run uses the credentials of the environment, and refuses any account other than `ACCOUNT`.
- **A run never exceeds its budget.** Before a test starts, its worst case is reserved: the price of its resources, by the price tables of `ultracluster_catalog`, for its time
  limit and another half hour. A run ends before a reservation would exceed `BUDGET`, and sends no call that would buy or launch more than the test has reserved.
- **A run cleans up.** It tags all its resources with `ultracluster:live`, and each test removes its own. A run first deploys a small stack with a schedule, which removes everything
  with the run's tag a quarter of an hour after the limit of the current test, even if the machine that started the run is gone. `make live DO=clean` does the same by hand.
- **An interrupted run can be resumed** and pays for nothing twice: its journal is in `.ultracluster/live/RUN`. A test that was interrupted after it began to pay is not repeated, and a
  Capacity Block that was bought is found by its tag.
- **A run writes a record** of its requests and responses to tests/live/records, without anything that identifies an account or its people. Commit the record: this page,
  `preflight` and `deploy --without-capacity` then show when each question last passed.
- Worst cases are list prices with their dates. Check the price of an offering before you buy: a run buys nothing that costs more than its reservation.
"""


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page.

    Args:
        records: Records by name, oldest first.
    """
    by_id, last = questions(), verdicts(records)
    parts = [_HEAD.format(count=len(by_id), tested=sum(bool(each.test) for each in by_id.values()))]
    head = "| # | question | tier | worst case | depends on | last passed |\n|---|---|---|---|---|---|"
    for decided, names in DECIDES.items():
        rows = [_row(by_id[name], last) for name in names]
        parts.append("\n".join([f"## {decided}\n", head, *rows]) + "\n")
    tiers = [f"- Tier {tier}: {what[0].lower()}{what[1:]}" for tier, what in TIERS.items()]
    parts.append("\n".join(["## Tiers\n", *tiers]) + "\n")
    return "\n".join(parts)


def facts(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of `ultracluster_runtime.preflight.live_facts`.

    Args:
        records: Records by name, oldest first.
    """
    rows = [
        {
            "id": question.id,
            "title": question.title,
            "shown": last[0] == SHOWN,
            "date": last[1],
            "version": records[last[2]]["versions"]["ultracluster"],
            "checks": question.checks,
        }
        for question in ordered(questions().values())
        if (last := verdicts(records).get(question.id))
    ]
    return json.dumps(rows, indent=1) + "\n"


def _row(question: Question, last: Mapping[str, tuple[str, str, str]]) -> str:
    cost = f"{question.usd} USD: {question.cost.what}" if question.usd else question.cost.what
    needs = ", ".join(question.needs)
    return (
        f"| {question.id} | {question.title} | {question.tier} | {cost} | {needs} | {_last(question, last)} |"
    )


def _last(question: Question, last: Mapping[str, tuple[str, str, str]]) -> str:
    if question.id not in last:
        return "never"
    verdict, date, name = last[question.id]
    said = date if verdict == SHOWN else f"failed on {date}"
    return f"{said} ([record](../tests/live/records/{name}.json))"
