"""docs/evidence/live-checks.md and the table that preflight reads, generated from the questions and the records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.journal import SHOWN
from tests.live.question import DECISIONS, TIERS, Question, questions
from tests.live.records import verdicts

__all__ = ["PAGE", "facts", "page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "live-checks.md"

_HEAD: Final = """# What only a real AWS account can show

<!-- Written by `make live DO=publish` from tests/live and its records; edit those. -->

Everything in this repository is tested against the CDK, the CloudFormation registry schemas, botocore's service models and a
local AWS. None of these launches an instance. These are the {count} questions whose answer changes a decision, most important first. Each is a function in `tests/live`, whose
docstring has the steps. A run asks tier by tier, free questions first.

```console
make live DO=plan UNTIL=2                           # lists the questions in order, with limits and worst cases; needs no account
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012    # asks an account; UNTIL is the highest tier
make live UNTIL=1 BUDGET=12 ACCOUNT=123456789012 RUN=261122ab12   # resumes an interrupted run
make live DO=clean RUN=261122ab12 ACCOUNT=123456789012 # removes what a run left behind
make live DO=publish                                # writes this page from the records
```

- **Use a dedicated test account.** A run uses the credentials of the environment, and refuses any account other than `ACCOUNT`.
- **A run never exceeds its budget.** Before a question is asked, its worst case is reserved: the price of its resources, by the price tables of `ultracluster_catalog`, for its time
  limit and another half hour. A run ends before a reservation would exceed `BUDGET`, and sends no call that would buy or launch more than the question has reserved.
- **A run cleans up.** It removes the resources of each question, and all at the end of each tier. It first deploys a small stack with a schedule, which removes everything with the
  run's tag `ultracluster:live` a quarter of an hour after the limit of the current question, even if the machine that started the run is gone. `make live DO=clean` does the same by hand.
- **A run needs few permissions**: those in `tests/live/tier_policies` of its tier and the lower ones.
- **An interrupted run can be resumed** and pays for nothing twice: its journal is in `.ultracluster/live/RUN`. A question that was interrupted after it began to pay is not repeated, and
  a Capacity Block that was bought is found by its tag.
- **A run writes a record** of its requests and responses to tests/live/records, without anything that identifies an account or its people. Commit it, or send it in a pull request: this page,
  `preflight` and `deploy --without-capacity` then show when each question last passed.
- Worst cases are list prices with their dates. Check the price of an offering before you buy: a run buys nothing that costs more than its reservation.
"""


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page.

    Args:
        records: Records by name, oldest first.
    """
    last = verdicts(records)
    parts = [_HEAD.format(count=len(questions()))]
    head = "| # | question | tier | worst case | depends on | last passed |\n|---|---|---|---|---|---|"
    for key, decided in DECISIONS.items():
        rows = [_row(question, last) for question in questions().values() if question.decides == key]
        parts.append("\n".join([f"## {decided}\n", head, *rows]) + "\n")
    tiers = [f"- Tier {tier}: {what}" for tier, what in TIERS.items()]
    parts.append("\n".join(["## Tiers\n", *tiers]) + "\n")
    return "\n".join(parts)


def facts(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of `ultracluster_runtime.preflight.live_facts`.

    Args:
        records: Records by name, oldest first.
    """
    newest = verdicts(records)
    rows = [
        {
            "id": question.id,
            "title": question.title,
            "shown": last[0] == SHOWN,
            "date": last[1],
            "version": records[last[2]]["versions"]["ultracluster"],
            "checks": question.checks,
        }
        for question in questions().values()
        if (last := newest.get(question.id))
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
