"""Causes of tests/unit/runtime/jobs/causes.yaml as jobs of a deployed quick start: `jobs why` names cause and remedy of each."""

import io
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.integration.quickstart_block import BLOCK, REGION
from tests.processes import eventually
from tests.unit.runtime.jobs.recorded_jobs import CAUSES, WAITING, is_run
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_cli._aws.local_target import node_files
from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_from_request

pytestmark = pytest.mark.slow

IMAGE = "123456789012.dkr.ecr.us-east-2.amazonaws.com/training"
ENDED = {"SUCCEEDED", "FAILED"}
RUN = [cause for cause in CAUSES if is_run(cause)]


class Cluster:
    """A deployed quick start whose nodes are processes."""

    def __init__(self, local: LocalAws) -> None:
        self.local = local
        self.batch = local.client("batch", REGION)
        (self.queue,) = (one["jobQueueArn"] for one in self.batch.describe_job_queues()["jobQueues"])
        (definition,) = self.batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]
        self.pretrain = definition["jobDefinitionArn"]

    def submit(self, *, nodes: int = 0, command: list[str] | None = None, **settings: Any) -> str:
        """Submit a program, alone in a small container or by the launcher on whole nodes."""
        common: dict[str, Any] = {
            "jobName": "cause",
            "jobQueue": self.queue,
            "tags": {"ultracluster:resume": "0"},
            "dependsOn": [{"jobId": settings["after"]}] if "after" in settings else [],
        }
        if nodes:
            overrides = {"command": ["python3", LAUNCHER_PATH, "raw", *command]} if command else {}
            ranges = [{"targetNodes": "0:", "containerOverrides": overrides}]
            how = {"nodeOverrides": {"numNodes": nodes, "nodePropertyOverrides": ranges}}
            return str(self.batch.submit_job(jobDefinition=self.pretrain, **common, **how)["jobId"])
        needs = [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]
        container: dict[str, Any] = {"image": f"{IMAGE}:1", "resourceRequirements": needs}
        container |= {"command": command or ["true"]} | {
            key: settings[key] for key in ("image",) if key in settings
        }
        if "log_group" in settings:
            options = {"awslogs-group": settings["log_group"]}
            container["logConfiguration"] = {"logDriver": "awslogs", "options": options}
        if "driver" in settings:
            container["logConfiguration"] = {"logDriver": settings["driver"]}
        definition = self.define(container, **settings)
        if "size" in settings:
            common["arrayProperties"] = {"size": settings["size"]}
            common["dependsOn"] = settings.get("depends", [])
        if "variables" in settings:
            long = [{"name": "X", "value": "x" * settings["variables"]}]
            common["containerOverrides"] = {"environment": long}
        if settings.get("then") == "wait":
            common["timeout"] = {"attemptDurationSeconds": 3600}
        return str(self.batch.submit_job(jobDefinition=definition, **common)["jobId"])

    def define(self, container: dict[str, Any], **settings: Any) -> str:
        """Register a definition as other tools do: of one container, of several on one node, or of a node range for each program."""
        kind: dict[str, Any] = {"type": "container", "containerProperties": container}
        if "containers" in settings:
            task = [
                {**container, "name": name, "command": command, "essential": name == "trainer"}
                for name, command in settings["containers"].items()
            ]
            kind = {"type": "container", "ecsProperties": {"taskProperties": [{"containers": task}]}}
        if "ranges" in settings:
            ranges = [
                {"targetNodes": nodes, "container": {**container, "command": command}}
                for nodes, command in settings["ranges"].items()
            ]
            nodes = {"numNodes": len(ranges), "mainNode": 0, "nodeRangeProperties": ranges}
            kind = {"type": "multinode", "nodeProperties": nodes}
        if "retries" in settings:
            kind["retryStrategy"] = settings["retries"]
        answer = self.batch.register_job_definition(jobDefinitionName="program", **kind)
        return str(answer["jobDefinitionArn"])

    def submit_waiting(self, waits: Mapping[str, Any]) -> str:
        """Submit a job of another tool that asks for what the nodes do not have."""
        needs = {"VCPU": str(waits.get("vcpus", 1)), "MEMORY": "64"}
        needs |= {"GPU": str(waits["gpus"])} if "gpus" in waits else {}
        sizes = [{"type": kind, "value": value} for kind, value in needs.items()]
        container: dict[str, Any] = {"image": f"{IMAGE}:1", "command": ["sleep", "600"]}
        container |= waits.get("older") or {"resourceRequirements": sizes}
        kind: dict[str, Any] = {"type": "container", "containerProperties": container}
        if "instance_type" in waits:
            ranges = [
                {"targetNodes": "0:", "container": {**container, "instanceType": waits["instance_type"]}}
            ]
            nodes = {"numNodes": 2, "mainNode": 0, "nodeRangeProperties": ranges}
            kind = {"type": "multinode", "nodeProperties": nodes}
        if "memory" in waits:
            task = [
                {
                    **container,
                    "name": f"part-{at}",
                    "resourceRequirements": [sizes[0], {"type": "MEMORY", "value": str(mib)}],
                }
                for at, mib in enumerate(waits["memory"])
            ]
            kind = {"type": "container", "ecsProperties": {"taskProperties": [{"containers": task}]}}
        if "consumable" in waits:
            self.batch.create_consumable_resource(consumableResourceName="license", totalQuantity=0)
            asked = [{"consumableResource": "license", "quantity": waits["consumable"]}]
            kind["consumableResourceProperties"] = {"consumableResourceList": asked}
        definition = self.batch.register_job_definition(jobDefinitionName="waits", **kind)["jobDefinitionArn"]
        job = self.batch.submit_job(jobName="waits", jobQueue=self.queue, jobDefinition=definition)
        return str(job["jobId"])

    def state(self, job: str) -> str:
        found = self.batch.describe_jobs(jobs=[job])["jobs"]  # empty for a node of a job that has not started
        return str(found[0]["status"]) if found else ""

    def lose(self, job: str) -> None:
        """Terminate the instance under a node of a job."""
        eventually(lambda: self.state(job) == "RUNNING")
        (found,) = self.batch.describe_jobs(jobs=[job])["jobs"]
        arn = found["container"]["containerInstanceArn"]
        hosts = self.local.client("ecs", REGION).describe_container_instances(
            cluster=arn.split("/")[1], containerInstances=[arn]
        )["containerInstances"]
        self.local.client("ec2", REGION).terminate_instances(InstanceIds=[hosts[0]["ec2InstanceId"]])

    def at(self, text: str) -> None:
        self.local.event_settings.most_firings = 1
        self.local.clock.set(datetime.fromisoformat(text))


def command(*words: str, code: int = 0) -> str:
    with redirect_stdout(io.StringIO()) as out:
        assert main(list(words)) == code
    return out.getvalue()


def why(job: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(command("jobs", "why", job, "--region", REGION, "--json"))
    return answer


def program(cause: Mapping[str, Any]) -> list[str]:
    """Return a program that logs the lines of a cause and ends with its exit code."""
    lines = [f"echo {shlex.quote(line)}" for line in cause.get("log", [])]
    return ["sh", "-c", "; ".join([*lines, f"exit {cause['exit']}"])]


@pytest.fixture(scope="module")
def answers(
    local_aws_server: LocalAws, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, dict[str, Any]]]:
    """What `jobs why` says of every cause: the jobs of a block from before its start until its end."""
    folder = tmp_path_factory.mktemp("causes")
    assert synthesize_rollout(QUICKSTART, folder / "cdk.out").returncode == 0
    (folder / "bin").mkdir()
    (folder / "bin/python3").symlink_to(sys.executable)  # an image with Python and without torch
    local_aws_server.reset()
    image = {"image_id": "ami-0123456789abcdef0", "region": REGION, "files": node_files(), "shared": "/fsx"}
    seed_from_request(
        local_aws_server._started(), {"regions": [REGION], "images": [image], "reservations": [BLOCK]}
    )
    deploy_assembly(local_aws_server, folder / "cdk.out")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in local_aws_server.environment(REGION).items():
            patch.setenv(name, value)
        cluster = Cluster(local_aws_server)
        kept = cluster.submit()
        kept_for_ever = {"this local AWS runs no jobs": why(kept)}
        cluster.batch.terminate_job(jobId=kept, reason="of a test")
        local_aws_server.run_jobs(JobSettings(images={IMAGE: folder / "bin"}))
        yield kept_for_ever | live(cluster)
    local_aws_server.run_jobs(None)


def live(cluster: Cluster) -> dict[str, dict[str, Any]]:
    said: dict[str, dict[str, Any]] = {}
    jobs: dict[str, str] = {}

    def note(cause: str, job: str) -> None:
        said[cause] = why(job)

    cluster.at("2029-12-31T11:30:00+00:00")
    early = cluster.submit()
    note("the block has not started", early)
    cluster.at("2030-01-01T11:31:00+00:00")

    eventually(lambda: cluster.state(early) in ENDED)
    for cause in RUN:
        how = cause.get("run") or {"command": program(cause)}
        after = {"after": jobs[how["after"]]} if "after" in how else {}
        jobs[cause["cause"]] = cluster.submit(**how | after)
        if how.keys() & {"nodes", "ranges"}:  # one at a time, since there are four nodes
            if "then" in how:
                cluster.lose(f"{jobs[cause['cause']]}#0")
            eventually(lambda job=jobs[cause["cause"]]: cluster.state(job) in ENDED)
    then = {cause["run"]["then"]: jobs[cause["cause"]] for cause in RUN if "then" in cause.get("run", {})}
    for job in then.values():
        eventually(lambda job=job: cluster.state(job) in {"RUNNING", *ENDED})
    command("jobs", "stop", then["stop"], "--now", "--region", REGION)
    cluster.local.clock.advance(timedelta(hours=1))
    last = then["end the block"]
    eventually(lambda: all(cluster.state(job) in ENDED for job in jobs.values() if job != last))

    for cause in WAITING:
        if isinstance(waits := cause["waits"], dict):
            on_every_node = [cluster.submit_waiting(waits) for _ in range(4 if "vcpus" in waits else 0)]
            for job in on_every_node:
                eventually(lambda job=job: cluster.state(job) == "RUNNING")
            waiting = cluster.submit_waiting(waits)
            note(cause["cause"], waiting)
            for job in (waiting, *on_every_node):
                cluster.batch.terminate_job(jobId=job, reason="of a test")
                eventually(lambda job=job: cluster.state(job) in ENDED)

    busy = cluster.submit(nodes=3, command=["sleep", "600"])
    eventually(lambda: cluster.state(busy) == "RUNNING")
    first, second = cluster.submit(nodes=2), cluster.submit(nodes=1, after=busy)
    note("other jobs have the nodes", first)
    note("a job before it has not ended", second)
    note("it is behind another job", cluster.submit(nodes=4))

    cluster.at("2030-01-15T10:31:00+00:00")
    cluster.at("2030-01-15T10:51:00+00:00")
    eventually(lambda: cluster.state(last) in ENDED)
    note("the queue is closed", first)
    return said | {cause: why(job) for cause, job in jobs.items()}


def test_as_many_causes_were_tried_as_the_page_says() -> None:
    page = (QUICKSTART.parents[2] / "docs/reference/job-faults.md").read_text()
    assert len({cause["cause"] for cause in [*CAUSES, *WAITING]}) > 80
    assert "More than 80 causes are tests" in page
    assert len(RUN) + len(WAITING) >= 25


@pytest.mark.parametrize("cause", RUN, ids=[cause["cause"] for cause in RUN])
def test_a_job_that_ended_has_its_cause_and_its_remedy(
    answers: Mapping[str, Mapping[str, Any]], cause: Mapping[str, Any]
) -> None:
    answer = answers[cause["cause"]]
    assert [one["reason"] for one in answer["reasons"]][:2] == ["failed", cause["why"]]
    remedies = {one["reason"]: one["remedy"] for one in answer["reasons"]}
    assert cause.get("remedy", "") in remedies[cause["why"]]
    assert cause.get("also_remedy", "") in remedies[cause.get("also", cause["why"])]
    assert all(line in "\n".join(answer["log"]) for line in cause.get("log", []))
    assert answer["unseen"] == []


@pytest.mark.parametrize("cause", WAITING, ids=[cause["cause"] for cause in WAITING])
def test_a_job_that_waits_has_its_cause_and_its_remedy(
    answers: Mapping[str, Mapping[str, Any]], cause: Mapping[str, Any]
) -> None:
    remedies = {one["reason"]: one["remedy"] for one in answers[cause["cause"]]["reasons"]}
    assert cause["remedy"] in remedies[cause["why"]]


def test_a_local_aws_that_runs_no_jobs_says_so_first_and_names_no_quota(
    answers: Mapping[str, Mapping[str, Any]],
) -> None:
    first, *others = answers["this local AWS runs no jobs"]["reasons"]
    assert first["reason"] == "local-aws-runs-no-jobs"
    assert "ultracluster local up --run-jobs" in first["remedy"]
    assert "quota" not in {one["reason"] for one in others}
