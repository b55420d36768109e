"""A live run: its account, its budget, how a question is asked, and what a question may ask of the run."""

import contextlib
import datetime as dt
import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from tests.live import janitor
from tests.live.janitor import QUESTION_TAG, RUN_TAG
from tests.live.journal import INTERRUPTED, NOT_SHOWN, SHOWN, Journal
from tests.live.question import FREE, Question
from tests.live.wire import SPENDING, OutsideReservationError, Wire

__all__ = ["BudgetError", "Live", "Run", "Where", "new_run_id"]

_TEMPLATE: Final = Path(__file__).with_name("janitor.yaml")
_GRACE: Final = dt.timedelta(minutes=15)
"""After the limit of a question, before the schedule in the account removes what it left."""

_HOUR: Final = dt.timedelta(hours=1)
_LARGE_REGION: Final = "us-east-2"
"""Where trn2.48xlarge are sold, the block of tier 3."""


class BudgetError(Exception):
    """The worst case of the next question does not fit into the budget."""


def new_run_id() -> str:
    """Return an ID for a new run: its day and four random digits."""
    return f"{dt.datetime.now(tz=dt.UTC):%y%m%d}{secrets.token_hex(2)}"


class Where:
    """The account of a run, real or local.

    Args:
        region: Region of small nodes. Default: us-east-1, for which most prices are known.
        block_region: Region of the Capacity Block of tier 2.
        endpoint: Endpoint of a local AWS. Default: AWS.
        sleep: Called with seconds to wait.
        now: Clock of the account.
    """

    def __init__(
        self,
        *,
        region: str = "us-east-1",
        block_region: str = "sa-east-1",
        endpoint: str = "",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], dt.datetime] = lambda: dt.datetime.now(tz=dt.UTC),
    ) -> None:
        self.region = region
        self.block_region = block_region
        self.endpoint = endpoint
        self.sleep = sleep
        self.now = now
        self.session = boto3.Session(region_name=region)
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
    """

    def __init__(self, run_id: str, where: Where, folder: Path, *, budget: Decimal) -> None:
        self.id = run_id
        self.where = where
        self.folder = folder
        self.journal = Journal(folder)
        self.budget = budget
        self._current: Question | None = None
        self._launched = 0
        self._net_stack = f"live-{run_id}-{janitor.OWN_STACK}"
        self._wire = Wire(where.session, self._check_spending)
        if not self.journal.events:
            self.journal.append(
                "run", run=run_id, at=where.now(), region=where.region, block_region=where.block_region
            )

    # Asking

    def obstacle(self, question: Question) -> str:
        """Return why a question is not asked in this run, or not again; empty if it is."""
        verdict = self.journal.verdict(question.id)
        if verdict in {SHOWN, NOT_SHOWN}:
            return f"was answered in this run before: {verdict}"
        if verdict == INTERRUPTED and question.cost.hourly:
            return "was interrupted, and is not paid a second time; ask it in a new run"
        if question.cost.hourly and self.stands_until > self.where.now():
            return "is paid by the hour, but the net of this run waits for the end of the block; ask it in another run"
        for need in question.needs:
            if self.journal.verdict(need) != SHOWN:
                return f"needs {need}, which this run has not shown"
            ended = self.journal.events.index(self.journal.of("end", need)[-1])
            if any(event["event"] == "clean" for event in self.journal.events[ended:]):
                return f"needs what {need} made, which is removed; ask it in a new run"
        return ""

    def opens(self, question: Question) -> dt.datetime:
        """Return from when on a question can be asked whose needs are shown."""
        if not question.opens:
            return self.where.now()
        (block,) = question.needs
        return dt.datetime.fromisoformat(self.journal.values(block)[question.opens]) - _HOUR

    def ask(self, question: Question) -> str:
        """Ask a question, undo what it did, note verdict and calls in the journal, and return why it was not shown.

        Raises:
            BudgetError: If the budget would be passed.
            OutsideReservationError: If the question would have spent what it had not reserved.
        """
        self._reserve(question)
        live = Live(self, question)
        verdict, why = INTERRUPTED, ""
        try:
            question.ask(live)
            verdict = SHOWN
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer was not shown, and the next question is asked
            verdict, why = NOT_SHOWN, str(error) or repr(error)
        finally:
            polled = itertools.groupby(self._wire.calls, lambda call: (call["operation"], call["request"]))
            calls = [list(same)[-1] for _, same in polled]  # those that undo are no part of the answer
            if left := live.finish():
                live.note(left=left)
            self.journal.append(
                "end",
                question=question.id,
                verdict=verdict,
                why=why,
                at=self.where.now(),
                values=live.values,
                facts=live.facts,
                calls=calls,
            )
            self._current = None
        return why

    def _reserve(self, question: Question) -> None:
        """Reserve the worst case of a question, and move the net on, before it acts."""
        again = self.journal.verdict(question.id) == INTERRUPTED
        usd = Decimal(0) if again and question.buys else question.usd  # the fee is paid once
        if self.journal.reserved + usd > self.budget:
            raise BudgetError(
                f"{question.id} may cost {usd} USD; {self.journal.reserved} of {self.budget} USD are reserved already"
            )
        self.journal.append("reserve", question=question.id, usd=usd, at=self.where.now())
        if question.tier:
            limit = self.where.now() + dt.timedelta(minutes=question.minutes)
            self.net(max(limit + _GRACE, self.stands_until))
        self._current, self._launched = question, 0
        self._wire.calls = []

    @property
    def stands_until(self) -> dt.datetime:
        """When what stands for longer than a question is over: a Capacity Block and its cluster."""
        ends = [event["values"]["end"] for event in self.journal.of("end") if "end" in event["values"]]
        return (
            max(map(dt.datetime.fromisoformat, ends), default=dt.datetime.min.replace(tzinfo=dt.UTC)) + _HOUR
        )

    def _check_spending(self, operation: str, request: Mapping[str, Any]) -> None:
        if request.get("StackName") == self._net_stack:
            return
        question = self._current
        if question is None:
            raise OutsideReservationError(f"{operation} outside of any question")
        if not SPENDING[operation]:
            if question.cost == FREE and not question.needs:
                raise OutsideReservationError(f"{question.id} reserves nothing, and {operation} costs")
            return
        if SPENDING[operation] == "buys":
            sent, reserved = len(self.journal.of("sending", question.id)) + 1, question.buys
        else:
            sent, reserved = self._launched + int(request.get("MaxCount", 1)), question.nodes
        if sent > reserved:
            raise OutsideReservationError(
                f"{question.id} has reserved {reserved} {SPENDING[operation]}; {operation} would make one more"
            )
        if SPENDING[operation] == "buys":
            self.journal.append("sending", question=question.id, operation=operation, at=self.where.now())
        else:
            self._launched = sent

    # The net

    def net(self, at: dt.datetime) -> None:
        """Have the account remove what is tagged with the run at `at`, whatever becomes of this machine."""
        when = f"{at:%Y-%m-%dT%H:%M:%S}"
        scheduler, stacks = self.where.client("scheduler"), self.where.client("cloudformation")
        try:
            found = scheduler.get_schedule(Name=f"live-{self.id}")
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFoundException":
                raise
        else:
            kept = ("Name", "Description", "FlexibleTimeWindow", "Target")
            known = {key: found[key] for key in kept if key in found}
            scheduler.update_schedule(**known, ScheduleExpression=f"at({when})", State="ENABLED")
            return
        code = Path(janitor.__file__).read_text("utf-8")
        values = {"Run": self.id, "Regions": " ".join(self.where.regions), "At": when}
        stacks.create_stack(
            StackName=self._net_stack,
            TemplateBody=_TEMPLATE.read_text("utf-8").replace("$CODE", json.dumps(code)),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()],
            Capabilities=["CAPABILITY_IAM"],
            RoleARN=self.where.deployer(),
            Tags=[{"Key": RUN_TAG, "Value": self.id}],
        )
        stacks.get_waiter("stack_create_complete").wait(
            StackName=self._net_stack, WaiterConfig={"Delay": 1 if self.where.is_local else 5}
        )

    def remove(self, question: str = "", *, minutes: float = 30) -> list[str]:
        """Remove what is tagged with the run, or with one question of it; return what is left."""
        left = janitor.remove(
            self.where.client,
            run=self.id,
            regions=self.where.regions,
            question=question,
            until=time.monotonic() + (0 if self.where.is_local else minutes * 60),
            pause=self.where.sleep,
        )
        if not question:
            self.journal.append("clean", left=left, at=self.where.now())
        return left

    def clean(self) -> list[str]:
        """Remove everything of the run, and the net when nothing else is left; return what is left."""
        left = self.remove()
        if not left:
            with contextlib.suppress(ClientError):
                self.where.client("cloudformation").delete_stack(StackName=self._net_stack)
        return left


class Live:
    """What a question may ask of its run.

    Args:
        run: The run.
        question: The question.
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
        """Tags of everything that the question makes."""
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
        """Run `action` when the question ends, however it ends. What is tagged is removed anyway."""
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

    def sleep_until(self, moment: dt.datetime) -> None:
        """Wait until `moment`, within the limit of the question."""
        self.run.where.sleep(max(0.0, (moment - self.run.where.now()).total_seconds()))

    def finish(self) -> list[str]:
        """Undo what the question did; return what is left."""
        for action in reversed(self._undo):
            with contextlib.suppress(ClientError):
                action()
        if self.question.stands or not self.question.tier:
            return []
        return self.run.remove(self.question.id, minutes=5)
