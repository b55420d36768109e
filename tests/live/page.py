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

Everything in this repository is proven against the CDK, the CloudFormation registry schemas, botocore's service models and a
local AWS. None of these launches an instance. This page lists what remains, in the order in which a run asks it: free questions first, then by
cost and by what a question needs. {count} questions, of which {tested} have a test in `tests/live`; the others say why they have none.

```console
make live-plan UNTIL=2                              # the tests in order, with limits and worst cases; needs no account
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012    # asks an account; UNTIL is the highest tier
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012 RUN=261122ab12   # goes on with an interrupted run
make live-clean RUN=261122ab12 ACCOUNT=123456789012 # removes what a run left
make live-publish                                   # writes this page from the records
```

- **Use an account of its own for tests.** The credentials are those of the environment; another account than `ACCOUNT` is refused.
- **The budget is never passed.** The worst case of a test is reserved before it acts: what it makes, by the price tables of `ultracluster_catalog`, for its time limit and half an
  hour more. A run ends before a reservation would pass `BUDGET`. A call that would buy or launch more than a test has reserved is not sent.
- **What a run makes, goes.** All of it has the tag `ultracluster:live`. Each test removes its own. First of all a run deploys a small stack whose schedule removes everything with the tag of the run,
  a quarter of an hour after the limit of the test that is running, even if this machine is gone. `make live-clean` does the same by hand.
- **An interrupted run goes on**, and pays nothing twice: its journal is in `.ultracluster/live/RUN`. A test that was interrupted after it had begun to pay is not repeated; a Capacity Block that
  was bought is found by its tag.
- **A run writes a record**, in tests/live/records, with requests and responses, and without what names an account or its people. Commit it: this page then says when a
  question was last shown, so do `preflight` and `rehearse` beside the checks that rely on it, and `python -m tests.live cases RECORD` makes cases of tests/field of it.
- The worst cases are list prices with their dates. Look at the price of an offering before you buy: a run buys nothing that is offered for more than its reservation.

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
    head = ["| # | question | tier | worst case | needs | last shown |", "|---|---|---|---|---|---|"]
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
    said = date if verdict == SHOWN else f"not shown on {date}"
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
        where = f"`{question.test}` in tests/live/{module}.py, within {question.minutes} minutes"
        bought = [f"{question.buys} purchase{'s' if question.buys > 1 else ''}"] if question.buys else []
        bought += [f"{question.nodes} instance{'s' if question.nodes > 1 else ''}"] if question.nodes else []
        local = f" The local AWS cannot run it: {question.local}." if question.local else ""
        paragraphs.append(f"Test: {', '.join([where, *bought])}.{local}")
    else:
        paragraphs.append(f"No test: {question.reason}.")
    return "\n" + "\n\n".join(paragraphs) + "\n"
