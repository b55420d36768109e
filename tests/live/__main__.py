"""`make live DO=plan`, `run`, `clean` and `publish`."""

import argparse
import os
import re
import sys
from decimal import Decimal, InvalidOperation
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError
from tests.live.journal import JournalError
from tests.live.page import PAGE, facts, page
from tests.live.question import TIERS, Question, plan_text, planned, questions
from tests.live.records import RECORDS, RecordError, load_all, record_of, write
from tests.live.session import BudgetError, Run, Where, new_run_id
from tests.live.wire import OutsideReservationError

from ultracluster_runtime.preflight.live_facts import LIVE_FACTS_FILE

_ROOT: Final = Path(__file__).parents[2]
_STATE: Final = _ROOT / ".ultracluster" / "live"
_LOOPBACK: Final = {"localhost", "127.0.0.1"}


class UsageError(Exception):
    """Input with which nothing is begun."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 if all is well, 1 if a question was not shown or something is left, 2 if nothing was begun.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except UsageError as error:
        sys.stderr.write(f"make live: {error}\n")
        return 2


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, command, text in (
        ("plan", _plan, "print the questions of a run in order, without an account"),
        ("run", _run, "ask an account"),
        ("clean", _clean, "remove what a run left"),
        ("publish", _publish, "write docs/evidence/live-checks.md and the table that preflight reads"),
    ):
        made = commands.add_parser(name, help=text)
        made.set_defaults(command=command)
        if name in {"plan", "run"}:
            made.add_argument("--until", default="0", help="highest tier, 0 to 3")
            made.add_argument(
                "--only", nargs="*", default=[], metavar="L8", help="only these questions, and what they need"
            )
        if name == "run":
            made.add_argument("--budget", default="0", help="USD that are never passed")
        if name in {"run", "clean"}:
            made.add_argument("--account", default="", help="ID of the account")
            made.add_argument("--run", default="", help="ID of a run")
            made.add_argument("--region", default="us-east-1", help="Region of small nodes")
            made.add_argument("--block-region", default="sa-east-1", help="Region of the block of tier 2")
            made.add_argument("--state", type=Path, default=_STATE, help=argparse.SUPPRESS)
    return parser


def _plan(options: argparse.Namespace) -> int:
    _say(plan_text(_chosen(options)))
    return 0


def _chosen(options: argparse.Namespace) -> list[Question]:
    if options.until not in map(str, TIERS):
        raise UsageError(f"UNTIL is a tier from 0 to {max(TIERS)}; got {options.until!r}")
    until = int(options.until)
    if unknown := sorted(set(options.only) - {question.id for question in planned(until)}):
        raise UsageError(f"no question up to tier {until}: {', '.join(unknown)}")
    return planned(until, options.only)


def _where(options: argparse.Namespace) -> Where:
    """Return the account of the credentials, if it is the one that was named."""
    if not re.fullmatch(r"\d{12}", options.account):
        raise UsageError(f"ACCOUNT is the ID of the account to ask, 12 digits; got {options.account!r}")
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint and urlsplit(endpoint).hostname not in _LOOPBACK:
        raise UsageError(f"AWS_ENDPOINT_URL is {endpoint!r}: unset it, or name a local AWS")
    where = Where(region=options.region, block_region=options.block_region, endpoint=endpoint)
    if endpoint:
        where.sleep = lambda _: None
    try:
        account = where.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise UsageError(f"no credentials that AWS takes: {error}") from None
    if account != options.account:
        raise UsageError(f"the credentials are of account {account}, not of {options.account}")
    return where


def _open(options: argparse.Namespace, budget: Decimal) -> Run:
    run_id = options.run or new_run_id()
    if not re.fullmatch(r"\d{6}[0-9a-f]{4}", run_id):
        raise UsageError(f"RUN is the ID of a run, such as 261122ab12; got {run_id!r}")
    try:
        return Run(run_id, _where(options), options.state / run_id, budget=budget)
    except JournalError as error:
        raise UsageError(str(error)) from None


def _run(options: argparse.Namespace) -> int:
    plan = _chosen(options)
    try:
        budget = Decimal(options.budget)
    except InvalidOperation:
        budget = Decimal(-1)
    if not (budget.is_finite() and budget >= 0):
        raise UsageError(f"BUDGET is an amount of USD; got {options.budget!r}")
    paid = next((question for question in plan if question.usd), None)
    if paid and paid.usd > budget:
        raise UsageError(
            f"BUDGET is {budget} USD, but the first question that costs, {paid.id}, may cost {paid.usd} USD"
        )
    _load_all()  # before an account is asked, whose answers could not be added
    run = _open(options, budget)
    try:
        worst = sum(question.usd for question in plan)
        _say(f"Run {run.id}: {len(plan)} questions, at most {worst} USD, budget {budget} USD")
        failed, later = _ask_all(run, plan)
        written = write(
            record_of(run.journal, account=options.account, version=version("ultracluster")),
            run.folder if run.where.is_local else RECORDS,
            f"{run.journal.of('run')[0]['at'][:10]}-{run.id}",
        )
        _say(f"Reserved {run.journal.reserved} of {budget} USD. Record: {written}")
        if later:  # what stands is needed then
            _say(f"To be asked later, with RUN={run.id}: {', '.join(later)}")
            return int(failed)
        return int(_clean_up(run, options.account) or failed)
    finally:
        run.journal.close()


def _ask_all(run: Run, plan: list[Question]) -> tuple[bool, list[str]]:
    """Ask questions tier by tier; return whether one was not shown, and those that can be asked later only."""
    failed, later = False, list[str]()
    try:
        for tier in TIERS:
            begun = False
            for question in (each for each in plan if each.tier == tier):
                if obstacle := run.obstacle(question):
                    said = obstacle
                elif (moment := run.opens(question)) > run.where.now():
                    later.append(question.id)
                    said = f"go on with the run after {moment:%Y-%m-%d %H:%M} UTC"
                else:
                    begun = True
                    why = run.ask(question)
                    failed = failed or bool(why)
                    said = f"not shown: {why}" if why else "shown"
                _say(f"{question.id} {question.title}\n  {said}")
            if later:
                break  # what this tier made stands until then
            if begun and tier:
                run.remove()
    except (
        BudgetError,
        OutsideReservationError,
        KeyboardInterrupt,
        BotoCoreError,  # the net could not be moved on, so that nothing else may begin
        ClientError,
    ) as error:
        sys.stderr.write(f"make live: the run ends: {error or 'interrupted'}\n")
        failed = True
    return failed, later


def _clean(options: argparse.Namespace) -> int:
    if not options.run:
        raise UsageError("RUN is missing: the ID of the run to clean up after, as it was printed")
    run = _open(options, Decimal(0))
    try:
        return _clean_up(run, options.account)
    finally:
        run.journal.close()


def _clean_up(run: Run, account: str) -> int:
    if left := run.clean():
        sys.stderr.write(
            f"make live: left: {', '.join(left)}; make live DO=clean RUN={run.id} ACCOUNT={account}\n"
        )
        return 1
    _say(f"Nothing of run {run.id} is left; data that a Capacity Block holds ends with it")
    return 0


def _load_all() -> dict[str, dict[str, Any]]:
    try:
        return load_all()
    except RecordError as error:
        raise UsageError(str(error)) from None


def _publish(options: argparse.Namespace) -> int:  # noqa: ARG001 - the form of a command
    records = _load_all()
    PAGE.write_text(page(records), encoding="utf-8")
    LIVE_FACTS_FILE.write_text(facts(records), encoding="utf-8")
    _say(f"{PAGE}: {len(questions())} questions, {len(records)} records")
    return 0


if __name__ == "__main__":
    sys.exit(main())
