"""A live run: its clients, its budget, and what a test may ask of it."""

import contextlib
import datetime as dt
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_UP, Decimal
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.live import janitor
from tests.live.janitor import QUESTION_TAG, RUN_TAG
from tests.live.journal import INTERRUPTED, Journal
from tests.live.question import FREE, MARGIN_MINUTES, Question
from tests.live.wire import SPENDING, OutsideReservationError, Wire

__all__ = ["LIVE_RUN", "Asked", "BudgetError", "Live", "NotYetError", "Run", "Where", "new_run_id"]

_TEMPLATE: Final = Path(__file__).with_name("janitor.yaml")
_GRACE: Final = dt.timedelta(minutes=15)
"""After the limit of a test, before the schedule in the account removes what it left."""

_LARGE_REGION: Final = "us-east-2"
"""Where trn2.48xlarge are sold, the block of tier 3."""

_ROUNDING_MINUTES: Final = 5
"""Added to the time of a test when what it cost is counted: instances are still shutting down when it ends."""


class BudgetError(Exception):
    """The worst case of the next test does not fit into the budget."""


class NotYetError(Exception):
    """A question that can be answered later only; the run goes on then."""


def new_run_id() -> str:
    """Return an ID for a new run: its day and four random digits."""
    return f"{dt.datetime.now(tz=dt.UTC):%y%m%d}{secrets.token_hex(2)}"


class Where:
    """The account of a run, real or local.

    Args:
        region: Region of small nodes. Default: us-east-1, for which most prices are known.
        block_region: Region of the Capacity Block of tier 2.
        endpoint: Endpoint of a local AWS. Default: AWS.
        key: Access key ID of a local AWS.
        sleep: Called with seconds to wait.
        now: Clock of the account.
    """

    def __init__(
        self,
        *,
        region: str = "us-east-1",
        block_region: str = "sa-east-1",
        endpoint: str = "",
        key: str = "",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(tz=dt.UTC),
    ) -> None:
        self.region = region
        self.block_region = block_region
        self.endpoint = endpoint
        self.sleep = sleep
        self.now = now
        self.session = boto3.Session(
            region_name=region,
            **({"aws_access_key_id": key, "aws_secret_access_key": "local"} if key else {}),
        )
        self._clients: dict[tuple[str, str], Any] = {}
        self._account = ""
        self._lock = threading.Lock()  # boto3 makes clients in one thread only

    @property
    def is_local(self) -> bool:
        """Whether this is a local AWS."""
        return bool(self.endpoint)

    @property
    def regions(self) -> list[str]:
        """Regions of the run."""
        return sorted({self.region, self.block_region, _LARGE_REGION})

    def deployer(self, region: str = "") -> str:
        """Return the ARN of the role with which CloudFormation deploys and deletes, that of the CDK's bootstrap.

        Those who run live tests then need no permission for what stacks hold.
        """
        region = region or self.region
        if not self._account:
            self._account = self.client("sts").get_caller_identity()["Account"]
        return f"arn:aws:iam::{self._account}:role/cdk-hnb659fds-cfn-exec-role-{self._account}-{region}"

    def client(self, service: str, region: str = "") -> Any:
        """Return a client of a service."""
        place = (service, region or self.region)
        with self._lock:
            if place not in self._clients:
                attempts = 1 if self.is_local else 5
                self._clients[place] = self.session.client(
                    service,
                    region_name=place[1],
                    endpoint_url=self.endpoint or None,
                    config=Config(
                        retries={"mode": "standard", "total_max_attempts": attempts},
                        s3={"addressing_style": "path"} if self.is_local else None,
                    ),
                )
            return self._clients[place]


class Run:
    """One run: the budget, the journal and the net in the account.

    Args:
        run_id: ID of the run.
        where: Account of the run.
        folder: Folder of the run.
        budget: USD that are never passed.
        worst: Worst case of each question in this run.
    """

    def __init__(
        self,
        run_id: str,
        where: Where,
        folder: Path,
        *,
        budget: Decimal,
        worst: Mapping[str, Decimal] | None = None,
    ) -> None:
        self.id = run_id
        self.where = where
        self.folder = folder
        self.journal = Journal(folder)
        self.budget = budget
        self.worst = dict(worst or {})
        self.current: Question | None = None
        self.used: dict[str, int] = {}
        self._begun = where.now()
        self.wire = Wire(before_spending=self._check_spending)
        self.wire.attach(where.session)
        if not self.journal.events:
            self.journal.append(
                "run", run=run_id, at=where.now(), region=where.region, block_region=where.block_region
            )

    # The budget

    def begin(self, question: Question) -> None:
        """Reserve the worst case of a question, and move the net on, before it acts.

        Raises:
            BudgetError: If the budget would be passed.
        """
        self.used = {}
        self._begun = self.where.now()
        again = self.journal.verdict(question.id) == INTERRUPTED
        usd = self.worst.get(question.id, question.usd) - (question.cost.once if again else 0)
        if self.journal.reserved + usd > self.budget:
            raise BudgetError(
                f"{question.id} may cost {usd} USD; {self.journal.reserved} of {self.budget} USD are reserved already"
            )
        self.journal.append("reserve", question=question.id, usd=usd, at=self.where.now(), again=again)
        self.current = question
        if question.tier:
            self.net(
                max(self.where.now() + dt.timedelta(minutes=question.minutes) + _GRACE, self.stands_until)
            )
        self.wire.calls = []

    @property
    def stands_until(self) -> dt.datetime:
        """When what stands for longer than a test is over, such as a Capacity Block and its cluster."""
        moments = [
            event["values"]["stands_until"]
            for event in self.journal.of("end")
            if "stands_until" in event["values"]
        ]
        return max(map(dt.datetime.fromisoformat, moments), default=dt.datetime.min.replace(tzinfo=dt.UTC))

    def _check_spending(self, operation: str, count: int) -> None:
        question = self.current
        if question is None:
            raise OutsideReservationError(f"{operation} outside of any test")
        counter = SPENDING[operation]
        if counter:
            self.used[counter] = self.used.get(counter, 0) + count
            sent = len(self.journal.of("sending", question.id)) if counter == "buys" else 0
            if max(self.used[counter], sent + 1 if counter == "buys" else 0) > getattr(question, counter):
                raise OutsideReservationError(
                    f"{question.id} has reserved {getattr(question, counter)} {counter}; {operation} would make one more"
                )
        elif self.worst.get(question.id, question.usd) == 0 and question.cost == FREE and not question.needs:
            raise OutsideReservationError(f"{question.id} reserves nothing, and {operation} costs")
        if counter == "buys":
            self.journal.append("sending", question=question.id, operation=operation, at=self.where.now())

    def end(
        self,
        question: Question,
        verdict: str,
        *,
        why: str = "",
        values: Mapping[str, Any],
        facts: Mapping[str, Any],
        gone: bool = True,
    ) -> None:
        """Note how a question ended, with its calls.

        Args:
            question: The question.
            verdict: How it ended.
            why: Why it was not shown.
            values: Values for questions that need it.
            facts: Facts for the record.
            gone: Whether all is gone that it made, so that no more than its time is paid.
        """
        usd = ""
        if verdict == "later":
            usd = "0.00"
        elif gone and not question.stands and (begun := self.journal.of("reserve", question.id)):
            worst = Decimal(begun[-1]["usd"])
            once = min(worst, question.cost.once)
            minutes = Decimal((self.where.now() - self._begun).total_seconds()) / 60 + _ROUNDING_MINUTES
            share = min(Decimal(1), minutes / (question.minutes + MARGIN_MINUTES))
            usd = str((once + (worst - once) * share).quantize(Decimal("0.01"), ROUND_UP))
        calls = [vars(call) for call in _without_repeats(self.wire.calls)]
        self.journal.append(
            "end",
            question=question.id,
            verdict=verdict,
            why=why,
            usd=usd,
            at=self.where.now(),
            values=dict(values),
            facts=dict(facts),
            calls=calls,
        )
        self.current = None

    # The net

    @property
    def _net_name(self) -> str:
        return f"live-{self.id}"

    def net(self, at: dt.datetime) -> None:
        """Have the account remove what is tagged with the run at `at`, whatever becomes of this machine."""
        when = f"{at:%Y-%m-%dT%H:%M:%S}"
        scheduler, stacks = self.where.client("scheduler"), self.where.client("cloudformation")
        try:
            found = scheduler.get_schedule(Name=self._net_name)
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFoundException":
                raise
        else:
            kept = ("Name", "Description", "FlexibleTimeWindow", "Target")
            known = {key: found[key] for key in kept if key in found}
            scheduler.update_schedule(**known, ScheduleExpression=f"at({when})", State="ENABLED")
            return
        body = net_template()
        values = {"Run": self.id, "Regions": " ".join(self.where.regions), "At": when}
        question, self.current = self.current, _NET
        try:
            stacks.create_stack(
                StackName=f"{self._net_name}-{janitor.OWN_STACK}",
                TemplateBody=body,
                Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()],
                Capabilities=["CAPABILITY_IAM"],
                RoleARN=self.where.deployer(),
                Tags=[{"Key": RUN_TAG, "Value": self.id}],
            )
        finally:
            self.current = question
        stacks.get_waiter("stack_create_complete").wait(
            StackName=f"{self._net_name}-{janitor.OWN_STACK}",
            WaiterConfig={"Delay": 1 if self.where.is_local else 5},
        )

    def remove(self, question: str = "", *, minutes: float = 0) -> list[str]:
        """Remove what is tagged with the run, or with one question of it; return what is left."""
        return janitor.remove(
            self.where.client,
            run=self.id,
            regions=self.where.regions,
            question=question,
            until=time.monotonic() + (0 if self.where.is_local else minutes * 60),
            pause=self.where.sleep,
        )

    def clean(self) -> list[str]:
        """Remove everything of the run, and the net when nothing else is left; return what is left."""
        left = self.remove(minutes=30)
        if not left:
            name = f"{self._net_name}-{janitor.OWN_STACK}"
            stacks = self.where.client("cloudformation")
            with contextlib.suppress(ClientError):
                stacks.delete_stack(StackName=name)
        self.journal.append("clean", left=left, at=self.where.now())
        return left


_NET: Final = Question(id="L0", title="The net", steps="", tier=1, cost=FREE, needs=("L0",))


def net_template() -> str:
    """Return the template of the net, with the code of its function."""
    code = Path(janitor.__file__).read_text("utf-8")
    return _TEMPLATE.read_text("utf-8").replace("$CODE", json.dumps(code))


def _without_repeats(calls: Iterable[Any]) -> Iterable[Any]:
    """Drop polls: calls whose request is that of the call before, except the last of them."""
    waiting = None
    for call in calls:
        if waiting and (waiting.operation, waiting.request) != (call.operation, call.request):
            yield waiting
        waiting = call
    if waiting:
        yield waiting


class Live:
    """What a test may ask of its run.

    Args:
        run: The run.
        question: Question of the test.
    """

    def __init__(self, run: Run, question: Question) -> None:
        self.run = run
        self.question = question
        self.values: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self._undo: list[Callable[[], Any]] = []

    @property
    def region(self) -> str:
        """Region of small nodes."""
        return self.run.where.region

    @property
    def block_region(self) -> str:
        """Region of the Capacity Block."""
        return self.run.where.block_region

    @property
    def tags(self) -> dict[str, str]:
        """Tags of everything that the test makes."""
        return {RUN_TAG: self.run.id, QUESTION_TAG: self.question.id}

    @property
    def tag_list(self) -> list[dict[str, str]]:
        """The tags as a list of keys and values."""
        return [{"Key": key, "Value": value} for key, value in self.tags.items()]

    def tagged(self, *resource_types: str) -> list[dict[str, Any]]:
        """Return TagSpecifications of EC2."""
        return [{"ResourceType": each, "Tags": self.tag_list} for each in resource_types]

    def name(self, suffix: str = "") -> str:
        """Return a name that the net knows: that of the run and the question."""
        return "-".join(filter(None, (f"live-{self.run.id}", self.question.id, suffix)))

    def client(self, service: str, region: str = "") -> Any:
        """Return a boto3 client whose calls are recorded."""
        return self.run.where.client(service, region)

    def of(self, question: str) -> dict[str, Any]:
        """Return what a question before found."""
        assert question in self.question.needs, f"{self.question.id} does not say that it needs {question}"
        return self.run.journal.values(question)

    def keep(self, **values: Any) -> None:
        """Keep values for questions that need this one."""
        self.values |= values

    def note(self, **facts: Any) -> None:
        """Note facts for the record."""
        self.facts |= facts

    def undo(self, action: Callable[[], Any]) -> None:
        """Run `action` when the test ends, however it ends. What is tagged is removed anyway."""
        self._undo.append(action)

    def refused(self, call: Callable[[], Any], *codes: str) -> str:
        """Return the message with which AWS refuses a call.

        Args:
            call: Sends the call.
            codes: Codes that it may be refused with.
        """
        try:
            call()
        except ClientError as error:
            said = error.response["Error"]
            assert said["Code"] in codes, (
                f"expected {' or '.join(codes)}, got {said['Code']}: {said['Message']}"
            )
            return str(said["Message"])
        raise AssertionError(f"expected {' or '.join(codes)}, but the call was accepted")

    def wait(self, what: str, probe: Callable[[], Any], *, minutes: float, every: float = 15) -> Any:
        """Return the first true answer of `probe`.

        Raises:
            AssertionError: If there is none within `minutes`.
        """
        begun = time.monotonic()
        for attempt in range(int(minutes * 60 / every) + 1):
            if found := probe():
                self.note(**{f"minutes until {what}": round((time.monotonic() - begun) / 60, 1)})
                return found
            if self.run.where.is_local and attempt > 3:
                break
            self.run.where.sleep(every)
        raise AssertionError(f"{what}: not within {minutes:g} minutes")

    def stay(self, what: str, holds: Callable[[], Any], *, minutes: float, every: float = 60) -> None:
        """Assert that `holds` stays true for `minutes`."""
        for _ in range(2 if self.run.where.is_local else int(minutes * 60 / every)):
            assert holds(), f"{what}: no longer after less than {minutes:g} minutes"
            self.run.where.sleep(every)

    def not_before(self, moment: dt.datetime, what: str) -> None:
        """Ask later.

        Raises:
            NotYetError: If `moment` has not come.
        """
        if self.run.where.now() < moment:
            raise NotYetError(f"{what}: go on with the run after {moment:%Y-%m-%d %H:%M} UTC")

    def sleep_until(self, moment: dt.datetime) -> None:
        """Wait until `moment`, within the limit of the test."""
        self.run.where.sleep(max(0.0, (moment - self.run.where.now()).total_seconds()))

    def on_node(self, instance: str, *commands: str, region: str = "", minutes: float = 5) -> str:
        """Run commands on a node by Session Manager's Run Command, and return what they print."""
        ssm = self.client("ssm", region)
        sent = ssm.send_command(
            DocumentName="AWS-RunShellScript", InstanceIds=[instance], Parameters={"commands": list(commands)}
        )["Command"]["CommandId"]

        def ended() -> Any:
            found = ssm.get_command_invocation(CommandId=sent, InstanceId=instance)
            return found if found["Status"] not in {"Pending", "InProgress", "Delayed"} else None

        found = self.wait("the command on the node", ended, minutes=minutes, every=5)
        assert found["Status"] == "Success", (
            f"{commands[0]}: {found['Status']}: {found['StandardErrorContent']}"
        )
        return str(found["StandardOutputContent"])

    def finish(self) -> list[str]:
        """Undo what the test did; return what is left."""
        for action in reversed(self._undo):
            with contextlib.suppress(ClientError):
                action()
        if self.question.stands or not self.question.tier:
            return []
        return self.run.remove(self.question.id, minutes=5)


LIVE_RUN: Final = pytest.StashKey[Run]()
"""Where tests/live/conftest.py finds the run that `make live` has begun."""


class Asked:
    """Plugin of pytest: the run, and the questions that it asks.

    Args:
        run: The run.
        names: IDs of the questions.
    """

    def __init__(self, run: Run, names: Iterable[str]) -> None:
        self._run = run
        self._names = set(names)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Hand over the run."""
        config.stash[LIVE_RUN] = self._run

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the tests of other questions."""
        kept = [item for item in items if getattr(getattr(item, "function", None), "live_question", None)]
        kept = [item for item in kept if item.function.live_question.id in self._names]  # type: ignore[attr-defined]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
