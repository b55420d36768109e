"""Every command that a page shows runs on the local AWS, in the state that the page describes, and ends with exit code 0.

test_tutorials.py runs the commands behind a `$`, whose output the pages show. not_run.yaml lists what cannot run here; each of
those commands is tried, and has to fail.
"""

import itertools
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.session
import pytest
import yaml
from botocore import xform_name
from tests.bare_environment import bare_environment
from tests.integration.page_shell import PageShell, Terminal
from tests.unit.docs.pages import ROOT, Block, code_blocks
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_cli._aws import local_target
from ultracluster_cli._aws.local_target import node_files
from ultracluster_cli._cdk import toolchain
from ultracluster_cli.cost import estimate
from ultracluster_cli.jobs import command as jobs
from ultracluster_cli.jobs import session as shell
from ultracluster_cli.main import main
from ultracluster_cli.operate import nodes, status
from ultracluster_cli.rollout import step_runner
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_from_request
from ultracluster_local.server import daemon

pytestmark = [pytest.mark.synth, pytest.mark.deploy, pytest.mark.process]

REGION = "us-east-2"
WRITTEN_ON = date(2026, 11, 23)
"""A day on which the dates in the pages' commands were to come; they move with today."""

IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
BLOCK = "cr-0123456789abcdef0"
QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text("utf-8")
NOT_RUN: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("not_run.yaml").read_text("utf-8")
)
"""Reasons by page and command."""

INTERRUPTED = 130
ENDLESS = {"--follow", "--watch"}
"""Options of commands that people end with Ctrl-C."""


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of commands of a page that no `$` begins."""
    return [
        block
        for block in code_blocks("bash", "console")
        if block.page == page and not block.text.startswith("$ ")
    ]


class Account:
    """The local AWS, and the folder of a reader."""

    def __init__(self, local: LocalAws, folder: Path) -> None:
        self.local = local
        self.folder = folder
        self.before: dict[str, Callable[[], object]] = {}
        """What happens between the commands of a page, by a part of the command that follows."""
        for name in ("examples", "stacks", "docs"):
            (folder / name).symlink_to(ROOT / name)
        context = json.loads((ROOT / "cdk.json").read_text())["context"] | {"rollout": "rollout.yaml"}
        (folder / "cdk.json").write_text(json.dumps({"app": "python3 app.py", "context": context}))
        package = folder / "node_modules/aws-cdk"
        (package / "bin").mkdir(parents=True)
        (package / "bin/cdk").write_text("")
        (package / "bin/cdk").chmod(0o755)
        (package / "package.json").write_text(json.dumps({"name": "aws-cdk", "version": "2.1148.1"}))
        programs = {
            "ultracluster": self.ultracluster,
            ".venv/bin/ultracluster": self.ultracluster,
            "aws": self.aws,
            "cdk": self.cdk,
            "python3": self.python,
            **dict.fromkeys(("docker", "make", ".venv/bin/pip"), lambda _: 127),
        }
        variables = local.environment(REGION, base=bare_environment())
        variables["PATH"] = f"{package / 'bin'}:{variables['PATH']}"
        # The folder of a reader is no part of this repository, whose .gitignore may name it.
        variables["GIT_CEILING_DIRECTORIES"] = str(folder.parent)
        variables |= {"COLUMNS": "80", "HOME": str(folder), "NO_COLOR": "1", "CDK_VALIDATION": "false"}
        self.shell = PageShell(
            folder, {name: partial(self.call, name, program) for name, program in programs.items()}, variables
        )
        self.not_run: dict[str, str] = {}
        """Commands that are expected to fail, filled in, by how the page shows them."""
        self.failed: set[str] = set()

    def client(self, service: str, region: str = REGION) -> Any:
        return self.local.client(service, region)

    def call(self, name: str, program: Callable[[Sequence[str]], int], words: Sequence[str]) -> int:
        """Run a command, and answer 0 if it ended as expected."""
        command = shlex.join([name, *words])
        for part in [part for part in self.before if part in command]:
            self.before.pop(part)()
        code = program(words)
        if command in self.not_run:
            assert code, f"{command} runs: take it out of not_run.yaml"
            self.failed.add(command)
            return 0
        return 0 if code == INTERRUPTED and ENDLESS & set(words) else code

    # Programs

    def ultracluster(self, words: Sequence[str]) -> int:
        return main(list(words))

    def python(self, words: Sequence[str]) -> int:
        if words[0] == "-m":
            return subprocess.run([sys.executable, *words], check=False).returncode
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", list(words))
            runpy.run_path(words[0], run_name="__main__")
        return 0

    def cdk(self, words: Sequence[str]) -> int:
        if words[0] != "deploy":
            return 1
        app = shlex.split(words[words.index("--app") + 1])
        output = self.folder / "cdk.out"
        shutil.rmtree(output, ignore_errors=True)
        done = synthesize(app, self.folder, output)
        assert done.returncode == 0, done.stderr
        return self.deploy_assembly(output)

    def logged_cdk(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        log: Path,
        on_line: Callable[[str], None],
    ) -> int:
        """Answer for the CDK CLI to commands of ours, without Node."""
        del environment
        log.write_text("")
        app = ["python3", str(ROOT / "app.py")]
        output = Path(command[command.index("--output") + 1]) if "--output" in command else None
        if "--app" in command:
            app = shlex.split(command[command.index("--app") + 1])
        if output is None:
            return self.deploy_assembly(Path(app[0]), clusters=[word for word in command if "/**" in word])
        done = synthesize(app, directory, output, *options(command, "--context"))
        for line in done.stderr.splitlines():
            on_line(line)
        return done.returncode or (self.deploy_assembly(output) if command[1] == "deploy" else 0)

    def deploy_assembly(self, assembly: Path, *, clusters: Sequence[str] = ()) -> int:
        """Deploy an assembly, or its stages of these clusters."""
        stages = [cluster.removesuffix("/**") for cluster in clusters]
        folders = [assembly / f"assembly-{stage}" for stage in stages] or [assembly]
        results = [result for folder in folders for result in deploy_assembly(self.local, folder)]
        assert results
        wrong = [result for result in results if result.reason]
        assert wrong == []
        return 0

    def aws(self, words: Sequence[str]) -> int:
        """Answer for the AWS CLI, which takes the parameters of the API."""
        service, name, *rest = words
        if (service, name) == ("s3", "sync"):
            return self.sync(*rest)
        if (service, name) == ("cloudformation", "deploy"):
            return self.deploy_template(rest)
        model = botocore.session.get_session().get_service_model(service)
        operation = {xform_name(each, "-"): each for each in model.operation_names}.get(name)
        if operation is None:
            return 252
        members = model.operation_model(operation).input_shape.members
        names = {xform_name(each, "-"): each for each in members}
        request: dict[str, Any] = {}
        others: dict[str, str] = {}
        for option in re.findall(r"(?:^|\0)--([a-z-]+)((?:\0(?!--)[^\0]*)*)", "\0".join(rest)):
            values = option[1].split("\0")[1:]
            if option[0] in names:
                request[names[option[0]]] = typed(members[names[option[0]]], values)
            else:
                others[option[0]] = " ".join(values)
        client = self.client(service, others.get("region", REGION))
        try:
            answer = getattr(client, xform_name(operation))(**request)
        except client.exceptions.ClientError as error:
            sys.stderr.write(f"{error}\n")
            return 254
        if name == "get-console-output":  # moto starts no instance that could write to its console
            answer["Output"] = "ultracluster: refused to join the cluster: 15 of 16 Neuron devices\n"
        del answer["ResponseMetadata"]
        sys.stdout.write("\t".join(map(str, answer.values())) + "\n")
        return 0

    def sync(self, folder: str, url: str) -> int:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert files
        for path in files:
            key = f"{prefix}/{path.relative_to(folder)}".lstrip("/")
            self.client("s3").put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
        return 0

    def deploy_template(self, words: Sequence[str]) -> int:
        stack, file = (*options(words, "--stack-name"), *options(words, "--template-file"))
        text = Path(file).read_text("utf-8")
        body = {"TemplateBody": text}
        for bucket in options(words, "--s3-bucket"):
            self.client("s3").put_object(Bucket=bucket, Key=stack, Body=text.encode())
            body = {"TemplateURL": f"{self.local.endpoint}/{bucket}/{stack}"}
        cloudformation = self.client("cloudformation")
        overrides = [word.split("=", 1) for word in words if re.match(r"\w+=", word)]
        try:
            cloudformation.create_stack(
                StackName=stack,
                Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in overrides],
                Capabilities=options(words, "--capabilities"),
                **body,
            )
        except cloudformation.exceptions.ClientError as error:
            sys.stderr.write(f"{error}\n")
            return 255
        (found,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        return 0 if found["StackStatus"] == "CREATE_COMPLETE" else 255

    # What the account holds

    def write_rollout(self, **cluster: Any) -> None:
        """Write rollout.yaml: the quick start with these keys of its cluster."""
        rollout = yaml.safe_load(QUICKSTART)
        rollout["waves"][0]["clusters"][0] |= cluster
        (self.folder / "rollout.yaml").write_text(yaml.safe_dump(rollout, sort_keys=False))

    def seed(self, **reservation: Any) -> None:
        """Create what a rollout refers to: an AMI, images and a reservation, by default an active block of four nodes."""
        now = datetime.now(UTC)
        end = (now + timedelta(days=9)).replace(hour=11, minute=30, second=0, microsecond=0)
        block = {
            "reservation_id": BLOCK,
            "region": REGION,
            "zone_id": "use2-az3",
            "instance_type": "trn2.48xlarge",
            "count": 4,
            "block": True,
            "start": (now - timedelta(hours=1)).isoformat(),
            "end": end.isoformat(),
        }
        ids = {"image_id": "ami-0123456789abcdef0", "region": REGION}
        tags = ("2026-11-20", "2026-11-22")
        seed_from_request(
            self.local._started(),
            {
                "regions": [REGION],
                "images": [{**ids, "files": node_files(), "shared": "/fsx"}],
                "container_images": [
                    {"repository": "training", "tag": tag, "region": REGION} for tag in tags
                ],
                "reservations": [block | reservation],
            },
        )

    def use_ledger(self, *, export: bool = True) -> None:
        create_table(self.client("dynamodb"))
        if export:
            self.shell.environment |= {
                "ULTRACLUSTER_LEDGER": TABLE,
                "ULTRACLUSTER_LEDGER_REGION": REGION,
            }

    def deploy_rollout(self) -> None:
        output = self.folder / "cdk.out"
        done = synthesize(["python3", str(ROOT / "app.py")], self.folder, output)
        assert done.returncode == 0, done.stderr
        self.deploy_assembly(output)

    def save_assembly(self) -> None:
        app = ["python3", str(ROOT / "app.py")]
        assert synthesize(app, self.folder, self.folder / "saved").returncode == 0

    def run_jobs(self) -> None:
        folder = Path(sys.executable).parent
        self.local.run_jobs(JobSettings(images={IMAGE.partition(":")[0]: folder}))

    def run(self, *words: str) -> int:
        """Run a command of ours that the page does not show."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.shell.environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", Terminal(screen=(screen := Terminal())))
            patch.setattr(sys, "stderr", screen)
            patch.chdir(self.folder)
            return main(list(words))

    # What the commands of a page presuppose

    def job_ids(self, *states: str, name: str = "") -> list[str]:
        batch = self.client("batch")
        return [
            job["jobId"]
            for queue in batch.describe_job_queues()["jobQueues"]
            for state in states
            for job in batch.list_jobs(jobQueue=queue["jobQueueName"], jobStatus=state)["jobSummaryList"]
            if name in ("", job["jobName"])
        ]

    def job(self) -> str:
        """Return a running job that trains; submit one if there is none."""
        if not self.job_ids("RUNNING", name="train"):
            self.end_jobs()
            program = ["--folder", str(ROOT / "examples/hello-trainium"), "--cluster", "quickstart"]
            settings = ["--nodes", "2", "--launcher", "raw", "--env", "UC_CHECKPOINT_POLL_SECONDS=0.2"]
            steps = ["--checkpoints", "/fsx/run", "--steps", "100000", "--step-seconds", "0.2"]
            assert self.run("run", "train.py", *program, *settings, "--detach", "--", *steps) == 0
        eventually(lambda: bool(self.job_ids("RUNNING", name="train")))
        return self.job_ids("RUNNING", name="train")[0]

    def end_jobs(self) -> None:
        for job in self.job_ids("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"):
            self.client("batch").terminate_job(jobId=job, reason="the page begins with free nodes")

    def node(self) -> str:
        self.job()
        filters = [
            {"Name": "instance-state-name", "Values": ["running"]},
            {"Name": f"tag:{CLUSTER_TAG}", "Values": ["quickstart"]},
        ]
        found = self.client("ec2").describe_instances(Filters=filters)["Reservations"]
        return str(found[0]["Instances"][0]["InstanceId"])

    def report_metric(self) -> None:
        """Wait until the job has reported a metric."""
        self.job()
        cloudwatch = self.client("cloudwatch")
        eventually(lambda: bool(cloudwatch.list_metrics(Namespace="UltraCluster")["Metrics"]))

    def fail_rollout(self) -> None:
        """Have a rollout of a changed file stopped by an alarm, which then ends."""
        path = self.folder / "rollout.yaml"
        size = re.search(r"storage_capacity_gib: (\d+)", path.read_text())
        assert size
        path.write_text(path.read_text().replace(size[0], f"storage_capacity_gib: {int(size[1]) + 2400}"))
        cloudwatch = self.client("cloudwatch")
        alarms = [alarm["AlarmName"] for alarm in cloudwatch.describe_alarms()["MetricAlarms"]]
        name = next(
            name
            for name in alarms
            if "quickstart" in name and "Unused" not in name and "DrainComing" not in name
        )
        set_state = partial(cloudwatch.set_alarm_state, AlarmName=name, StateReason="of a test")
        set_state(StateValue="ALARM")
        code = self.run("rollout", "rollout.yaml", "--yes")
        set_state(StateValue="OK")
        assert code == 4

    def buy(self) -> None:
        self.approve()
        assert self.run("capacity", "buy", "december") == 0

    def approve(self) -> None:
        days = [(datetime.now(UTC).date() + timedelta(days=days)).isoformat() for days in (8, 40)]
        what = ["--instance-type", "trn2.48xlarge", "--nodes", "2", "--days", "14", "--between", *days]
        where = ["--regions", REGION, "--zone-ids", "use2-az3", "--cluster", "pretrain"]
        money = ["--max-fee", "60000", "--month-cap", "60000", "--approver", "Ada"]
        assert self.run("capacity", "approve", "december", *what, *where, *money) == 0

    def run_in_block(self) -> None:
        """Start instances in the reservation."""
        ec2 = self.client("ec2")
        target = {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}}
        ec2.run_instances(
            ImageId="ami-0123456789abcdef0",
            InstanceType="trn2.48xlarge",
            MinCount=4,
            MaxCount=4,
            InstanceMarketOptions={"MarketType": "capacity-block"},
            CapacityReservationSpecification=target,
            TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": CLUSTER_TAG, "Value": "ohio"}]}],
        )


def synthesize(
    app: Sequence[str], folder: Path, output: Path, *context: str
) -> subprocess.CompletedProcess[str]:
    own: dict[str, str] = json.loads((folder / "cdk.json").read_text())["context"]
    given = dict(pair.split("=", 1) for pair in context)
    return subprocess.run(
        [sys.executable, *app[1:]],
        env=bare_environment(
            CDK_OUTDIR=str(output), CDK_CONTEXT_JSON=json.dumps(own | given), CDK_VALIDATION="false"
        ),
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )


def options(words: Sequence[str], name: str) -> list[str]:
    return [words[index + 1] for index, word in enumerate(words) if word == name]


def typed(shape: Any, values: Sequence[str]) -> Any:
    """Return a parameter of the AWS CLI as the API takes it."""
    if shape.type_name == "boolean":
        return True
    if shape.type_name == "list":
        return list(values)
    (value,) = values
    if value.startswith("file://"):
        return Path(value.removeprefix("file://")).read_text("utf-8")
    return value if shape.type_name == "string" else json.loads(value)


def eventually(seen: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)


PLACEHOLDERS: Mapping[str, str | Callable[[Account], str]] = {
    r"\bCLUSTER\b": "quickstart",
    r"\bROLLOUT\b": "rollout.yaml",
    r"\bTABLE\b": TABLE,
    r"\bORDER\b": "december",
    r"\bJOB\b": Account.job,
    r"\bNODE\b": Account.node,
    r"\bSTACK\b": "quickstart-us-east-2-Cluster",
    r"\bp-EXAMPLE\b": lambda account: account.client("organizations", "us-east-1").list_policies(
        Filter="SERVICE_CONTROL_POLICY"
    )["Policies"][-1]["Id"],
    r"\bACCOUNT-OR-OU\b": "123456789012",
    r"\bENVIRONMENT\b": lambda account: account.client("batch").describe_compute_environments()[
        "computeEnvironments"
    ][0]["computeEnvironmentName"],
    r"\bQUEUE_ARN\b": lambda account: account.client("batch").describe_job_queues()["jobQueues"][0][
        "jobQueueArn"
    ],
}


def filled(text: str, account: Account) -> str:
    """Return commands with what the local AWS holds in the place of placeholders, and dates that are to come."""
    shift = date.today() - WRITTEN_ON  # noqa: DTZ011 - of days
    text = re.sub(r"\b2\d{3}-\d\d-\d\d\b(?!T)", lambda found: str(date.fromisoformat(found[0]) + shift), text)
    for placeholder, value in PLACEHOLDERS.items():
        if re.search(placeholder, text):
            text = re.sub(placeholder, value if isinstance(value, str) else value(account), text)
    return text


# States that pages describe


def nothing(account: Account) -> None:
    """An account that is bootstrapped and otherwise empty."""
    del account


def a_deployed_cluster(account: Account) -> None:
    """A cluster runs in its block. Two teams share it; one of its jobs has gates."""
    account.write_rollout(
        queue={"shares": {"research": 4, "evaluation": 1}},
        jobs=[
            {
                "name": "pretrain",
                "nodes": 2,
                "image": IMAGE,
                "command": ["train.py"],
                "gates": {"fabric": True, "smoke": True},
            },
            {
                "name": "precompile",
                "kind": "precompile",
                "phase": "compile",
                "image": IMAGE,
                "command": ["train.py"],
            },
        ],
    )
    account.use_ledger()
    account.seed()
    account.deploy_rollout()
    account.run_jobs()
    shutil.copy(ROOT / "examples/hello-trainium/train.py", account.folder)
    account.before["advise"] = account.report_metric
    account.before["dashboard"] = account.report_metric
    account.before["--nodes 4"] = account.end_jobs


def an_order(account: Account) -> None:
    """Nothing is bought yet: the rollout names an order."""
    account.write_rollout(capacity={"order": "december"})
    account.use_ledger(export=False)
    account.seed()
    account.before["capacity verify"] = account.run_in_block


def an_exported_ledger(account: Account) -> None:
    an_order(account)
    account.before["capacity buy"] = account.approve
    account.shell.environment |= {"ULTRACLUSTER_LEDGER": TABLE, "ULTRACLUSTER_LEDGER_REGION": REGION}


def a_block(account: Account) -> None:
    account.write_rollout()
    account.seed()
    account.use_ledger(export=False)


def two_waves(account: Account) -> None:
    account.write_rollout(nodes=2, jobs=[])
    path = account.folder / "rollout.yaml"
    rollout = yaml.safe_load(path.read_text())
    (canary,) = rollout["waves"][0]["clusters"]
    second = "cr-0123456789abcdef1"
    production = canary | {"name": "pretrain", "capacity": {"reservation_id": second}}
    rollout["waves"] = [
        {"name": "canary", "clusters": [canary]},
        {"name": "production", "clusters": [production]},
    ]
    path.write_text(yaml.safe_dump(json.loads(json.dumps(rollout)), sort_keys=False))  # without aliases
    account.seed(count=2)
    account.seed(count=2, reservation_id=second)
    account.before["--against saved"] = account.save_assembly
    account.before["--resume"] = account.fail_rollout
    account.before["--restart"] = account.fail_rollout


def an_order_for_production(account: Account) -> None:
    two_waves(account)
    path = account.folder / "rollout.yaml"
    path.write_text(path.read_text().replace("reservation_id: cr-0123456789abcdef1", "order: december"))
    account.use_ledger()
    account.before["capacity resolve"] = account.buy


def two_buckets(account: Account) -> None:
    account.write_rollout(name="training-a")
    account.seed()
    place = {"LocationConstraint": REGION}
    for bucket in ("my-code-us-east-2", "my-templates"):
        account.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=place)


def an_organization(account: Account) -> None:
    account.client("organizations", "us-east-1").create_organization(FeatureSet="ALL")


def templates(account: Account) -> None:
    """Templates of another project, and an assembly of the CDK."""
    for name in ("network", "cluster"):
        text = "Resources: {Topic: {Type: AWS::SNS::Topic}}"
        (account.folder / f"{name}.yaml").write_text(text)
    account.write_rollout()
    assert synthesize(["", str(ROOT / "app.py")], account.folder, account.folder / "cdk.out").returncode == 0


def a_program(account: Account) -> None:
    """A rollout file and a program, and nothing deployed."""
    account.write_rollout()
    shutil.copy(ROOT / "examples/hello-trainium/train.py", account.folder)


def a_sagemaker_queue(account: Account) -> None:
    assert account.cdk(["deploy", "--app", "python3 examples/sagemaker-queue/app.py"]) == 0


def two_apps(account: Account) -> None:
    """A platform's cluster is deployed, and the jobs of the example name its resources."""
    account.write_rollout(jobs=[])
    account.seed()
    account.deploy_rollout()

    def deploy_jobs() -> None:
        app = account.folder / "my-jobs/app.py"
        batch = account.client("batch")
        queue = batch.describe_job_queues()["jobQueues"][0]["jobQueueArn"]
        placeholder = "arn:aws:batch:us-east-2:123456789012:job-queue/train"
        text = app.read_text()
        assert placeholder in text
        app.write_text(text.replace(placeholder, queue))
        assert account.cdk(["deploy", "--app", "python3 my-jobs/app.py"]) == 0

    account.before["jobs submit Research"] = deploy_jobs


STATES: Sequence[tuple[Callable[[Account], None], str]] = (
    (nothing, "README.md index.md how-to/install.md tutorials/first-cluster.md evidence/live-checks.md"),
    (templates, "reference/check.md"),
    (an_order, "how-to/bake-an-ami.md concepts/images.md"),
    (an_order, "how-to/buy-a-block.md"),
    (an_order, "concepts/capacity.md"),
    (an_exported_ledger, "how-to/rehearsal.md"),
    (a_block, "runbook/extension.md"),
    (an_order_for_production, "concepts/regions.md"),
    (two_waves, "how-to/deploy-from-ci.md concepts/rollout.md"),
    (two_buckets, "how-to/export.md"),
    (a_program, "how-to/test-on-this-machine.md"),
    (a_program, "reference/local-aws.md"),
    (an_organization, "reference/capacity-security.md"),
    (a_sagemaker_queue, "how-to/sagemaker.md"),
    (two_apps, "how-to/use-a-cluster-from-another-app.md"),
    (two_waves, "reference/plan.md"),
    (
        a_deployed_cluster,
        """
        how-to/share-a-queue.md how-to/compile-before-the-block.md how-to/open-a-shell.md how-to/watch-a-run.md how-to/advice.md
        how-to/dashboard.md
        """,
    ),
    (a_deployed_cluster, "concepts/capacity-lifecycle.md runbook/node-broken.md"),
)
"""Pages that are read one after the other in one account, and its state before the first."""


@pytest.fixture
def account(local_aws: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    account = Account(local_aws, tmp_path)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the credentials of another local AWS
    monkeypatch.setattr(toolchain, "run_logged", account.logged_cdk)
    monkeypatch.setattr(estimate, "listed_prices", lambda *_, **__: ({}, []))  # moto has no price list
    # `--local` and `ultracluster local` use this local AWS instead of one in the background.
    running = daemon.Status(
        endpoint=local_aws.endpoint,
        port=int(local_aws.endpoint.rpartition(":")[2]),
        key=local_aws.key,
        pid=os.getpid(),
        started=datetime.now(UTC),
        directory=tmp_path,
        log=tmp_path / "log",
    )
    for module in (daemon, local_target):
        monkeypatch.setattr(module, "status", lambda _: running)

    def up(*_: object, jobs: JobSettings | None, **__: object) -> daemon.Status:
        if jobs:
            local_aws.run_jobs(jobs)
        return running

    monkeypatch.setattr(daemon, "up", up)
    monkeypatch.setattr(daemon, "down", lambda _: True)

    # Minutes pass between two looks at the clock of those who wait, and who watches presses Ctrl-C.
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    minutes = itertools.count(step=4)
    later = SimpleNamespace(
        now=lambda zone: datetime.now(zone) + timedelta(minutes=next(minutes)),
        fromtimestamp=datetime.fromtimestamp,
    )
    follow = SimpleNamespace(
        sleep=lambda seconds: interrupt(seconds) if seconds == jobs._FOLLOW_SECONDS else None
    )
    for module, name, stand_in in (
        (jobs, "datetime", later),
        (jobs, "time", follow),
        (nodes, "datetime", later),
        (nodes, "time", SimpleNamespace(sleep=lambda _: None)),
        (status, "time", SimpleNamespace(sleep=interrupt)),
        (step_runner, "time", SimpleNamespace(monotonic=itertools.count(step=3600).__next__)),
    ):
        monkeypatch.setattr(module, name, stand_in)

    def open_and_leave(program: str, words: Sequence[str], variables: Mapping[str, str]) -> None:
        done = subprocess.run(
            [program, *words[1:], "-c", "pwd"], env=variables, stdout=subprocess.DEVNULL, check=False
        )
        raise SystemExit(done.returncode)

    monkeypatch.setattr(shell.os, "execvpe", open_and_leave)
    yield account
    local_aws.run_jobs(None)


@pytest.mark.parametrize(("prepare", "pages"), STATES, ids=[pages.split()[-1] for _, pages in STATES])
def test_every_command_runs(account: Account, prepare: Callable[[Account], None], pages: str) -> None:
    prepare(account)
    variables = dict(account.shell.environment)
    for page in pages.split():
        account.shell.folder, account.shell.environment = account.folder, dict(variables)
        account.not_run = {
            shlex.join(shlex.split(filled(command, account))): command for command in NOT_RUN.get(page, {})
        }
        account.failed = set()
        for block in blocks_of(page):
            code, output = account.shell.run(filled(block.text, account))
            assert code == 0, (block.name, account.shell.calls[-1:], output[-3000:])
        listed = {shown for command, shown in account.not_run.items() if command not in account.failed}
        assert not listed, f"{page} shows no such commands: {listed}"


NOT_YET = [
    "concepts/storage.md",
    "gallery/examples.md",
    "how-to/raise-quotas.md",
    "how-to/run-a-program.md",
    "how-to/see-the-plan.md",
    "how-to/tear-down.md",
    "reference/cost.md",
    "reference/jobs.md",
    "reference/preflight.md",
    "runbook/billed.md",
    "runbook/destroy-fails.md",
    "runbook/node-refused.md",
    "tutorials/first-block.md",
    "runbook/block-ends.md",
    "runbook/job-runnable.md",
    "runbook/efa-slow.md",
    "runbook/loss-differs.md",
]
"""Pages whose commands are not run yet; tests/unit/docs/test_commands_of_pages.py checks that they exist, with their options."""


def test_every_page_with_commands_is_read() -> None:
    read = [page for _, pages in STATES for page in pages.split()]
    pages = {block.page for block in code_blocks("bash", "console")}
    assert sorted(read + NOT_YET) == sorted(page for page in pages if blocks_of(page))
    assert NOT_RUN.keys() <= set(read)
