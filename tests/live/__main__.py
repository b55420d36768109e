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

from tests.live.plan import plan_text, planned, questions
from tests.live.question import TIERS

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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    commands = parser.add_subparsers(required=True)
    plan = commands.add_parser("plan", help="print the tests of a run in order, without an account")
    plan.set_defaults(command=_plan)
    run = commands.add_parser("run", help="ask an account")
    run.set_defaults(command=_run)
    clean = commands.add_parser("clean", help="remove what a run left")
    clean.set_defaults(command=_clean)
    publish = commands.add_parser(
        "publish", help="write docs/evidence/live-checks.md and the table that preflight reads"
    )
    publish.set_defaults(command=_publish)
    for command in (plan, run):
        command.add_argument("--until", default="0", help="highest tier, 0 to 3")
        command.add_argument(
            "--only", nargs="*", default=[], metavar="L8", help="only these questions, and what they need"
        )
    run.add_argument("--budget", default="0", help="USD that are never passed")
    for command in (run, clean):
        command.add_argument("--account", default="", help="ID of the account")
        command.add_argument("--run", default="", help="ID of a run")
        command.add_argument("--region", default="us-east-1", help="Region of small nodes")
        command.add_argument(
            "--block-region", default="sa-east-1", help="Region of the Capacity Block of tier 2"
        )
        command.add_argument("--state", type=Path, default=_STATE, help=argparse.SUPPRESS)
        command.add_argument("--records", type=Path, default=None, help=argparse.SUPPRESS)
    return parser


def _tier(text: str) -> int:
    if text not in {str(tier) for tier in TIERS}:
        raise UsageError(f"UNTIL is a tier from 0 to {max(TIERS)}; got {text!r}")
    return int(text)


def _only(names: list[str], until: int) -> list[str]:
    known = {question.id for question, _ in planned(until)}
    if unknown := sorted(set(names) - known):
        raise UsageError(f"no question with a test up to tier {until}: {', '.join(unknown)}")
    return names


def _plan(options: argparse.Namespace) -> int:
    until = _tier(options.until)
    sys.stdout.write(plan_text(until, _only(options.only, until)) + "\n")
    return 0


def _where(options: argparse.Namespace) -> Any:
    """Return the account of the credentials, if it is the one that was named."""
    from botocore.exceptions import BotoCoreError, ClientError
    from tests.live.session import Where

    if not re.fullmatch(r"\d{12}", options.account):
        raise UsageError(f"ACCOUNT is the ID of the account to ask, 12 digits; got {options.account!r}")
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint and urlsplit(endpoint).hostname not in _LOOPBACK:
        raise UsageError(f"AWS_ENDPOINT_URL is {endpoint!r}: unset it, or name a local AWS")
    more: dict[str, Any] = {}
    if endpoint:
        more = {"endpoint": endpoint, "key": os.environ.get("AWS_ACCESS_KEY_ID", ""), "sleep": lambda _: None}
    try:
        where = Where(region=options.region, block_region=options.block_region, **more)
        account = where.client("sts").get_caller_identity()["Account"]
    except (BotoCoreError, ClientError) as error:
        raise UsageError(f"no credentials that AWS takes: {error}") from None
    if account != options.account:
        raise UsageError(f"the credentials are of account {account}, not of {options.account}")
    return where


def _open(options: argparse.Namespace, where: Any, budget: Decimal, worst: dict[str, Decimal]) -> Any:
    from tests.live.journal import JournalError
    from tests.live.session import Run, new_run_id

    run_id = options.run or new_run_id()
    if not re.fullmatch(r"\d{6}[0-9a-f]{4}", run_id):
        raise UsageError(f"RUN is the ID of a run, such as 261122ab12; got {run_id!r}")
    try:
        return Run(run_id, where, options.state / run_id, budget=budget, worst=worst)
    except JournalError as error:
        raise UsageError(str(error)) from None


def _run(options: argparse.Namespace) -> int:
    until = _tier(options.until)
    try:
        budget = Decimal(options.budget)
    except InvalidOperation:
        raise UsageError(f"BUDGET is an amount of USD; got {options.budget!r}") from None
    if not (budget.is_finite() and budget >= 0):
        raise UsageError(f"BUDGET is an amount of USD; got {options.budget!r}")
    plan = planned(until, _only(options.only, until))
    paid = [(question.id, usd) for question, usd in plan if usd]
    if paid and paid[0][1] > budget:
        raise UsageError(
            f"BUDGET is {budget} USD, but the first test that costs, {paid[0][0]}, may cost {paid[0][1]} USD"
        )
    from tests.live.asking import LATER
    from tests.live.records import RECORDS, RecordError, load_all, record_of, write

    records = options.records or RECORDS
    try:
        load_all(records)
    except RecordError as error:
        raise UsageError(str(error)) from None
    where = _where(options)
    run = _open(options, where, budget, {question.id: usd for question, usd in plan})
    try:
        sys.stdout.write(
            f"Run {run.id}: {len(plan)} questions, at most {sum(usd for _, usd in plan)} USD, budget {budget} USD\n"
        )
        failed = _ask_all(run, [question.id for question, _ in plan])
        if where.is_local:
            records = options.records or run.folder
        written = write(
            record_of(run.journal, account=options.account, version=version("ultracluster")),
            records,
            f"{run.journal.of('run')[0]['at'][:10]}-{run.id}",
        )
        later = sorted(
            {
                event["question"]
                for event in run.journal.of("end")
                if run.journal.verdict(event["question"]) == LATER
            }
        )
        left = [] if later else run.clean()  # what tests made is gone; what stands is needed later
        sys.stdout.write(f"Reserved {run.journal.reserved} of {budget} USD. Record: {written}\n")
        if later:
            sys.stdout.write(f"To be asked later, with RUN={run.id}: {', '.join(later)}\n")
        if left:
            sys.stderr.write(
                f"make live: left: {', '.join(left)}; make live DO=clean RUN={run.id} ACCOUNT={options.account}\n"
            )
        return 1 if failed or left else 0
    finally:
        run.journal.close()


def _ask_all(run: Any, names: list[str]) -> bool:
    import pytest
    from tests.live.session import Asked

    arguments = [
        "-m",
        "live",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "-v",
        "--tb=short",
        "--rootdir",
        str(_ROOT),
    ]
    return (
        pytest.main([*arguments, str(Path(__file__).parent)], plugins=[Asked(run, names)])
        != pytest.ExitCode.OK
    )


def _clean(options: argparse.Namespace) -> int:
    if not options.run:
        raise UsageError("RUN is missing: the ID of the run to clean up after, as it was printed")
    where = _where(options)
    run = _open(options, where, Decimal(0), {})
    try:
        left = run.clean()
    finally:
        run.journal.close()
    if left:
        sys.stderr.write(f"make live: left: {', '.join(left)}\n")
        return 1
    sys.stdout.write(f"Nothing of run {run.id} is left; data that a Capacity Block holds ends with it\n")
    return 0


def _publish(options: argparse.Namespace) -> int:  # noqa: ARG001 - the form of a command
    from tests.live.page import PAGE, facts, page
    from tests.live.records import RecordError, load_all

    from ultracluster_runtime.preflight.live_facts import LIVE_FACTS_FILE

    try:
        records = load_all()
    except RecordError as error:
        raise UsageError(str(error)) from None
    PAGE.write_text(page(records), encoding="utf-8")
    LIVE_FACTS_FILE.write_text(facts(records), encoding="utf-8")
    sys.stdout.write(f"{PAGE}: {len(questions())} questions, {len(records)} records\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
