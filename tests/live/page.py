"""docs/evidence/live-checks.md and the table that preflight reads, generated from the questions and the records."""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.journal import SHOWN
from tests.live.plan import questions
from tests.live.question import TIERS, Question, ordered
from tests.live.records import verdicts

__all__ = ["PAGE", "facts", "page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "live-checks.md"

_HEAD: Final = """# What only a real AWS account can show

<!-- Written by `make live-publish` from tests/live and its records; edit those. -->

Everything in this repository is tested against the CDK, the CloudFormation registry schemas, botocore's service models and a
local AWS. None of these launches an instance. This page lists the {count} questions that remain, in the order in which a run asks them: free questions
first, the others by tier, cost and the questions they depend on. {tested} questions have a test in `tests/live`; each of the others has a reason why not, and steps to follow by hand.

```console
make live-plan UNTIL=2                              # lists the tests in order, with limits and worst cases; needs no account
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012    # runs the tests in an account; UNTIL is the highest tier
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012 RUN=261122ab12   # resumes an interrupted run
make live-clean RUN=261122ab12 ACCOUNT=123456789012 # removes what a run left behind
make live-publish                                   # writes this page from the records
```

- **Use a dedicated test account.** A run uses the credentials of the environment, and refuses any account other than `ACCOUNT`.
- **A run never exceeds its budget.** Before a test starts, its worst case is reserved: the price of its resources, by the price tables of `ultracluster_catalog`, for its time
  limit and another half hour. A run ends before a reservation would exceed `BUDGET`, and sends no call that would buy or launch more than the test has reserved.
- **A run cleans up.** It tags all its resources with `ultracluster:live`, and each test removes its own. A run first deploys a small stack with a schedule, which removes everything
  with the run's tag a quarter of an hour after the limit of the current test, even if the machine that started the run is gone. `make live-clean` does the same by hand.
- **An interrupted run can be resumed** and pays for nothing twice: its journal is in `.ultracluster/live/RUN`. A test that was interrupted after it began to pay is not repeated, and a
  Capacity Block that was bought is found by its tag.
- **A run writes a record** of its requests and responses to tests/live/records, without anything that identifies an account or its people. Commit the record: this page,
  `preflight` and `deploy --without-capacity` then show when each question last passed, and `python -m tests.live cases RECORD` turns the record into cases of localaws/tests/field.
- Worst cases are list prices with their dates. Check the price of an offering before you buy: a run buys nothing that costs more than its reservation.

"""


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page.

    Args:
        records: Records by name, oldest first.
    """
    order = ordered(questions().values())
    last = verdicts(records)
    text = _HEAD.format(count=len(order), tested=sum(bool(each.test) for each in order))
    rows = [_row(each, last) for each in order]
    head = ["| # | question | tier | worst case | depends on | last passed |", "|---|---|---|---|---|---|"]
    parts = [text, "\n".join([*head, *rows]), "\n"]
    for tier, what in TIERS.items():
        parts.append(f"\n## Tier {tier}: {what[0].lower()}{what[1:]}\n")
        parts += [_section(each) for each in order if each.tier == tier]
    return "".join(parts).rstrip() + "\n"


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


def _section(question: Question) -> str:
    paragraphs = [f"### {question.id}. {question.title}"]
    paragraphs += [
        textwrap.fill(each, width=150, break_on_hyphens=False)
        for each in question.steps.split("\n\n")
        if each
    ]
    if question.test:
        module = question.module.rpartition(".")[2]
        where = f"`{question.test}` in tests/live/{module}.py, within {question.minutes} minute{'s' if question.minutes > 1 else ''}"
        bought = [f"{question.buys} purchase{'s' if question.buys > 1 else ''}"] if question.buys else []
        bought += [f"{question.nodes} instance{'s' if question.nodes > 1 else ''}"] if question.nodes else []
        local = f" Not run on the local AWS: {question.local}." if question.local else ""
        paragraphs.append(f"Test: {', '.join([where, *bought])}.{local}")
    else:
        paragraphs.append(f"No test: {question.reason}.")
    return "\n" + "\n\n".join(paragraphs) + "\n"
