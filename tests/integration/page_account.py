"""A local AWS and the folder of a reader, with what pages presuppose there."""

import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
import yaml
from tests.bare_environment import bare_environment
from tests.integration.page_programs import CdkCli, synthesize
from tests.integration.page_shell import Terminal
from tests.processes import eventually
from tests.unit.docs.pages import ROOT
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
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_from_request
from ultracluster_local.server import daemon
from ultracluster_runtime.jobs.describe import describe_job
from ultracluster_runtime.jobs.stop import instances_of
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_stacks.synthesis.assembly.cache import CACHE_DIRECTORY

__all__ = ["BLOCK", "IMAGE", "REGION", "Account", "eventually"]

REGION = "us-east-2"
UNFINISHED = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")
IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training:2026-11-20"
BLOCK = "cr-0123456789abcdef0"
QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text("utf-8")


class Account:
    """A local AWS, and the folder of a reader, whose rollout file has the quick start with changes."""

    def __init__(self, local: LocalAws, folder: Path, *, cache: Path) -> None:
        """Create the folder. Accounts with the same cache share what the CDK app synthesizes."""
        self.local = local
        self.folder = folder
        self.rollout = folder / "rollout.yaml"
        self.cdk = CdkCli(local)
        for name in (".github", "app.py", "docs", "examples", "stacks"):
            (folder / name).symlink_to(ROOT / name)
        context = json.loads((ROOT / "cdk.json").read_text())["context"] | {"rollout": "rollout.yaml"}
        (folder / "cdk.json").write_text(json.dumps({"app": "python3 app.py", "context": context}))
        cache.mkdir(exist_ok=True)
        (folder / CACHE_DIRECTORY.parent).mkdir(parents=True)
        (folder / CACHE_DIRECTORY).symlink_to(cache)
        home = folder.with_name(f"{folder.name}.home")  # caches there are no files of the project
        home.mkdir()
        package = folder / "node_modules/aws-cdk"
        (package / "bin").mkdir(parents=True)
        (package / "bin/cdk").touch(0o755)
        (package / "package.json").write_text(json.dumps({"name": "aws-cdk", "version": "2.1148.1"}))
        self.environment = local.environment(REGION, base=bare_environment()) | {
            "COLUMNS": "80",
            "HOME": str(home),
            "NO_COLOR": "1",
            # The folder of a reader is no part of this repository, whose .gitignore may name it.
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        }
        self.environment["PATH"] = f"{package / 'bin'}:{self.environment['PATH']}"

    def client(self, service: str, region: str = REGION) -> Any:
        return self.local.client(service, region)

    def run(self, *words: str) -> int:
        """Run a command of ours that the page does not show."""
        return self.type(*words)[0]

    def type(self, *words: str) -> tuple[int, str, str]:
        """Run a command of ours in a terminal; return its exit code, its output and what is on the screen."""
        screen, out = Terminal(), Terminal(is_terminal=False)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", Terminal(screen=screen))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", screen)
            patch.chdir(self.folder)
            code = main(list(words))
        return code, out.getvalue(), screen.getvalue()

    # What it holds

    def write_rollout(self, **cluster: Any) -> None:
        """Write the quick start with these keys of its cluster."""
        rollout = yaml.safe_load(QUICKSTART)
        rollout["waves"][0]["clusters"][0] |= cluster
        self.rollout.write_text(yaml.safe_dump(rollout, sort_keys=False))

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
        image = {"image_id": "ami-0123456789abcdef0", "files": node_files(), "shared": "/fsx"}
        tags = ("2026-11-20", "2026-11-22")
        seed_from_request(
            self.local._started(),
            {
                "regions": [REGION],
                "images": [{"region": REGION, **image}],
                "container_images": [
                    {"repository": "training", "tag": tag, "region": REGION} for tag in tags
                ],
                "reservations": [block | reservation],
            },
        )

    def use_ledger(self) -> None:
        create_table(self.client("dynamodb"))

    def export_ledger(self) -> None:
        self.use_ledger()
        self.environment |= {"ULTRACLUSTER_LEDGER": TABLE, "ULTRACLUSTER_LEDGER_REGION": REGION}

    def deploy(self, app: str | None = None) -> None:
        """Deploy an app, by default that of cdk.json with the rollout file."""
        assert self.cdk.deploy_app(self.folder, app) == 0

    def synthesize(self, output: str) -> None:
        code, said = synthesize(self.folder, self.folder / output)
        assert code == 0, said

    def run_jobs(self, programs: Path | None = None) -> None:
        folder = programs or Path(sys.executable).parent
        self.local.run_jobs(JobSettings(images={IMAGE.partition(":")[0]: folder}))

    # What commands of a page presuppose

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
        """Return a job that trains on two nodes; submit one if none runs."""
        if not self.training_jobs():
            self.end_jobs()
            program = ["--folder", str(ROOT / "examples/hello-trainium"), "--cluster", "quickstart"]
            settings = ["--nodes", "2", "--launcher", "raw", "--env", "UC_CHECKPOINT_POLL_SECONDS=0.2"]
            steps = ["--checkpoints", "/fsx/run", "--steps", "100000", "--step-seconds", "0.5"]
            assert self.run("run", "train.py", *program, *settings, "--detach", "--", *steps) == 0
            eventually(lambda: bool(self.training_jobs()))
        return self.training_jobs()[0]

    def waiting_job(self) -> str:
        """Return a job that waits for all nodes, of which a running job has two."""
        self.job()
        assert self.run("jobs", "submit", "quickstart", "pretrain", "--nodes", "4", "--alone") == 0
        (job,) = self.job_ids("RUNNABLE", name="pretrain")
        return job

    def failed_job(self) -> str:
        """Return the job that has failed, as soon as there is one."""
        eventually(lambda: bool(self.job_ids("FAILED")))
        return self.job_ids("FAILED")[0]

    def training_jobs(self) -> list[str]:
        """Return the jobs that train and are not about to end: nothing has terminated them or a node."""
        jobs = [describe_job(job, client=self.client) for job in self.job_ids("RUNNING", name="train")]
        return [job["jobId"] for job in jobs if not job.get("isTerminated") and self.nodes_run(job)]

    def nodes_run(self, job: Mapping[str, Any]) -> bool:
        nodes = list(instances_of(job, self.client).values())
        ec2 = self.client("ec2")
        return bool(nodes) and nodes == [
            status["InstanceId"]
            for status in ec2.describe_instance_status(InstanceIds=nodes)["InstanceStatuses"]
        ]

    def end_jobs(self, *, but: str = "") -> None:
        for job in self.job_ids(*UNFINISHED):
            if job != but:
                self.client("batch").terminate_job(jobId=job, reason="the page begins with free nodes")

    def end_all_jobs(self) -> None:
        """Stop the jobs, as the page about a destroy that fails says, and wait until they have left their nodes."""
        self.end_jobs()
        eventually(lambda: not self.job_ids(*UNFINISHED))

    def end_gates(self) -> None:
        """End the gates that earlier pages started, so that only the job that trains holds nodes."""
        training = self.job()
        self.end_jobs(but=training)
        eventually(lambda: self.job_ids(*UNFINISHED) == [training])

    def node(self) -> str:
        """Return a node of the running job."""
        nodes = instances_of(describe_job(self.job(), client=self.client), self.client)
        return nodes[min(nodes)]

    def queue_arn(self) -> str:
        return str(self.client("batch").describe_job_queues()["jobQueues"][0]["jobQueueArn"])

    def definition_arn(self) -> str:
        """Return the ARN that the stack outputs, as other tools find it."""
        stacks = self.client("cloudformation").describe_stacks(StackName="quickstart-us-east-2-Cluster")
        outputs = {one["OutputKey"]: one["OutputValue"] for one in stacks["Stacks"][0]["Outputs"]}
        assert outputs["JobQueueArn"] == self.queue_arn()
        return str(outputs["JobDefinitionArnPretrain"])

    def environment_name(self) -> str:
        environments = self.client("batch").describe_compute_environments()["computeEnvironments"]
        return str(environments[0]["computeEnvironmentName"])

    def permission(self) -> str:
        """Return the permission to replace the compute environment of the cluster."""
        stack = "quickstart-us-east-2-Cluster"
        logical_id = self.environment_name().removeprefix(f"{stack}-").rpartition("-")[0]
        return f"replace:{stack}/{logical_id}"

    def file_system_id(self) -> str:
        (file_system,) = self.client("fsx").describe_file_systems()["FileSystems"]
        return str(file_system["FileSystemId"])

    def network_id(self, kind: str) -> str:
        """Return the ID of the Vpc, Subnet or SecurityGroup that remains of a cluster."""
        ec2 = self.client("ec2")
        (vpc,) = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["false"]}])["Vpcs"]
        filters = [{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]
        groups = ec2.describe_security_groups(Filters=filters)["SecurityGroups"]
        remaining = {
            "Vpc": [vpc],
            "Subnet": ec2.describe_subnets(Filters=filters)["Subnets"],
            "SecurityGroup": [group for group in groups if group["GroupName"] != "default"],
        }
        (found,) = remaining[kind]
        return str(found.get(f"{kind}Id") or found["GroupId"])

    def policy(self) -> str:
        policies = self.client("organizations", "us-east-1").list_policies(Filter="SERVICE_CONTROL_POLICY")
        return str(policies["Policies"][-1]["Id"])

    def report_metric(self) -> None:
        """Wait until a job has reported a metric."""

        def reported() -> bool:
            return bool(self.client("cloudwatch").list_metrics(Namespace="UltraCluster")["Metrics"])

        if not reported():
            self.job()
            eventually(reported)

    def fail_rollout(self) -> None:
        """Have a rollout of a changed file stopped by an alarm, which then ends."""
        text = self.rollout.read_text()
        size = re.search(r"storage_capacity_gib: (\d+)", text)
        assert size
        self.rollout.write_text(text.replace(size[0], f"storage_capacity_gib: {int(size[1]) + 2400}"))
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

    def approve(self) -> None:
        days = [(datetime.now(UTC).date() + timedelta(days=days)).isoformat() for days in (8, 40)]
        what = ["--instance-type", "trn2.48xlarge", "--nodes", "2", "--days", "14", "--between", *days]
        where = ["--regions", REGION, "--zone-ids", "use2-az3", "--cluster", "pretrain"]
        money = ["--max-fee", "60000", "--month-cap", "60000", "--approver", "Ada"]
        assert self.run("capacity", "approve", "december", *what, *where, *money) == 0

    def token(self) -> str:
        """Return the token of the only order."""
        (record,) = Ledger(self.client("dynamodb"), TABLE).orders()
        return record.token

    def buy(self) -> None:
        self.approve()
        assert self.run("capacity", "buy", "december") == 0

    def run_in_block(self) -> None:
        """Start instances in the reservation."""
        target = {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}}
        self.client("ec2").run_instances(
            ImageId="ami-0123456789abcdef0",
            InstanceType="trn2.48xlarge",
            MinCount=4,
            MaxCount=4,
            InstanceMarketOptions={"MarketType": "capacity-block"},
            CapacityReservationSpecification=target,
            TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": CLUSTER_TAG, "Value": "ohio"}]}],
        )

    # What stands in for the rest of the world

    def replace_surroundings(self, patch: pytest.MonkeyPatch) -> None:
        """Let commands of ours find this local AWS, the stand-in of the CDK CLI, no prices, and a clock that runs fast."""
        patch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the credentials of another local AWS
        patch.setattr(toolchain, "run_logged", self.cdk.run_logged)
        patch.setattr(estimate, "listed_prices", lambda *_, **__: ({}, []))  # moto has no price list
        # `--local` and `ultracluster local` use this local AWS instead of one in the background.
        running = daemon.Status(
            endpoint=self.local.endpoint,
            port=int(self.local.endpoint.rpartition(":")[2]),
            key=self.local.key,
            pid=os.getpid(),
            started=datetime.now(UTC),
            directory=self.folder,
            log=self.folder / "log",
        )
        for module in (daemon, local_target):
            patch.setattr(module, "status", lambda _: running)

        def up(*_: object, jobs: JobSettings | None, **__: object) -> daemon.Status:
            if jobs:
                self.local.run_jobs(jobs)
            return running

        patch.setattr(daemon, "up", up)
        patch.setattr(daemon, "down", lambda _: True)
        patch.setattr(shell.os, "execvpe", _open_and_leave)

        # Minutes pass between two looks at the clock of those who wait, and who watches presses Ctrl-C.
        minutes = itertools.count(step=4)
        later = SimpleNamespace(
            now=lambda zone: datetime.now(zone) + timedelta(minutes=next(minutes)),
            fromtimestamp=datetime.fromtimestamp,
        )
        for module, name, stand_in in (
            (jobs, "datetime", later),
            (jobs, "time", SimpleNamespace(sleep=lambda _: None)),
            (shell, "time", SimpleNamespace(sleep=_follow)),
            (nodes, "datetime", later),
            (nodes, "time", SimpleNamespace(sleep=lambda _: None)),
            (status, "time", SimpleNamespace(sleep=_interrupt)),
            (step_runner, "time", SimpleNamespace(monotonic=itertools.count(step=3600).__next__)),
        ):
            patch.setattr(module, name, stand_in)


def _follow(seconds: float) -> None:
    """Press Ctrl-C when a log is followed; a run is followed to its end."""
    if sys._getframe(2).f_code.co_name == "logs":
        raise KeyboardInterrupt
    time.sleep(seconds)


def _interrupt(_: float) -> None:
    raise KeyboardInterrupt


def _open_and_leave(program: str, words: Sequence[str], variables: Mapping[str, str]) -> None:
    done = subprocess.run(
        [program, *words[1:], "-c", "pwd"], env=variables, stdout=subprocess.DEVNULL, check=False
    )
    raise SystemExit(done.returncode)
