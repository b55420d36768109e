"""Jobs of AWS Batch run as processes of this machine, as AWS Batch runs them on nodes."""

import base64
import json
import os
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local.errors import LocalAwsError
from ultracluster_local.seeding.seed_client import shell_directory

pytestmark = pytest.mark.slow


def wait_until_gone(pids: Sequence[int], *, seconds: float = 5) -> list[int]:
    """Wait until processes have ended, and give those that have not."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def test_a_job_runs_and_its_output_is_in_its_log_stream(batch: Any) -> None:
    job = batch.run("sh", "-c", "echo hello; echo again >&2")
    assert (job["status"], job["statusReason"]) == ("SUCCEEDED", "Essential container in task exited")
    assert job["container"]["exitCode"] == 0
    assert batch.lines(job) == ["hello", "again"]
    assert job["createdAt"] <= job["startedAt"] <= job["stoppedAt"]
    (attempt,) = job["attempts"]
    assert attempt["container"]["logStreamName"] == job["container"]["logStreamName"]


def test_a_job_sees_what_batch_gives_it_and_nothing_of_the_user(
    batch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret-of-the-user")
    job = batch.run("env", container={"environment": [{"name": "LR", "value": "1e-4"}]})
    seen = dict(line.split("=", 1) for line in batch.lines(job))
    assert "HF_TOKEN" not in seen
    assert (seen["LR"], seen["AWS_BATCH_JOB_ID"], seen["AWS_BATCH_JOB_ATTEMPT"]) == (
        "1e-4",
        job["jobId"],
        "1",
    )
    assert (seen["AWS_BATCH_JQ_NAME"], seen["AWS_BATCH_CE_NAME"]) == ("training", "nodes")
    assert seen["AWS_ENDPOINT_URL"] == batch.local.endpoint
    assert seen["HOME"] != str(Path.home())
    assert "AWS_BATCH_JOB_NUM_NODES" not in seen


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_a_failed_job_has_the_exit_code_of_its_command(batch: Any, command: str, code: int) -> None:
    job = batch.run("sh", "-c", command)
    assert (job["status"], job["container"]["exitCode"]) == ("FAILED", code)


def test_a_command_or_image_that_does_not_exist_fails_with_a_reason(batch: Any) -> None:
    for command, code, words in (
        ("no-such-program", 127, 'exec: "no-such-program": executable file not found in $PATH'),
        ("/no/program", 127, 'exec: "/no/program": stat /no/program: no such file or directory'),
        ("/etc/passwd", 126, 'exec: "/etc/passwd": permission denied'),
    ):
        job = batch.run(command)
        assert (job["status"], job["statusReason"]) == ("FAILED", "Task failed to start")
        assert job["container"]["exitCode"] == code
        assert job["container"]["reason"].startswith("CannotStartContainerError")
        assert words in job["container"]["reason"]
    job = batch.run("true", container={"image": "registry.example.com/other:1"})
    assert job["status"] == "FAILED"
    assert "CannotPullContainerError" in job["container"]["reason"]
    assert "exitCode" not in job["container"]


def test_jobs_share_the_s3_files_that_they_mount_and_fail_to_start_without_them(batch: Any) -> None:
    system = batch.local.client("s3files", "us-east-1").create_file_system(
        bucket="arn:aws:s3:::corpus", roleArn="arn:aws:iam::123456789012:role/Files"
    )

    def mounting(arn: str) -> Any:
        files = {"name": "cache", "s3filesVolumeConfiguration": {"fileSystemArn": arn}}
        return {"volumes": [files], "mountPoints": [{"sourceVolume": "cache", "containerPath": "/cache"}]}

    there = mounting(system["fileSystemArn"])
    assert batch.run("sh", "-c", "echo kept > /cache/word", container=there)["status"] == "SUCCEEDED"
    assert batch.lines(batch.run("sh", "-c", "cat /cache/word", container=there)) == ["kept"]

    job = batch.run("true", container=mounting("arn:aws:s3files:us-east-1:123456789012:file-system/fs-0"))
    assert (job["status"], job["statusReason"]) == ("FAILED", "Task failed to start")
    assert job["container"]["reason"].startswith("CannotCreateVolumeError")


def test_an_image_of_neuron_runs_on_this_python(batch: Any) -> None:
    image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training-neuronx:2.9.0-neuronx-py312"
    job = batch.run("python3", "-c", "print('it runs')", container={"image": image})
    assert batch.lines(job) == ["it runs"]


def test_a_job_is_retried_as_often_and_for_the_reasons_that_its_strategy_names(batch: Any) -> None:
    job = batch.run("sh", "-c", "exit 7", retryStrategy={"attempts": 3})
    assert [attempt["container"]["exitCode"] for attempt in job["attempts"]] == [7, 7, 7]
    conditions = [
        {"onReason": "OutOfMemory*", "action": "RETRY"},
        {"onExitCode": "7", "action": "EXIT"},
    ]
    job = batch.run("sh", "-c", "exit 7", retryStrategy={"attempts": 3, "evaluateOnExit": conditions})
    assert len(job["attempts"]) == 1
    job = batch.run(
        "sh",
        "-c",
        "test $AWS_BATCH_JOB_ATTEMPT = 2",
        retryStrategy={"attempts": 3, "evaluateOnExit": conditions},
    )
    assert (job["status"], len(job["attempts"])) == ("SUCCEEDED", 2)


def test_a_terminated_job_gets_sigterm_and_may_end_by_itself(batch: Any) -> None:
    command = "trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    job = batch.submit(batch.define("sh", "-c", command, retryStrategy={"attempts": 3}))
    batch.wait(job, "RUNNING")
    batch.wait_for_line(job, "ready")
    batch.api.terminate_job(jobId=job, reason="enough")
    ended = batch.wait(job)
    assert (ended["status"], ended["statusReason"], len(ended["attempts"])) == ("FAILED", "enough", 1)
    assert batch.lines(ended) == ["ready", "saving"]


@pytest.mark.parametrize(("seconds", "status"), [(29, "RUNNING"), (30, "FAILED")])
def test_a_job_that_was_stopped_has_ended_when_the_clock_has_moved_by_the_time_that_it_has_for_that(
    batch: Any, seconds: int, status: str
) -> None:
    command = "trap 'sleep 2; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    job = batch.submit(batch.define("sh", "-c", command))
    batch.wait(job, "RUNNING")
    batch.wait_for_line(job, "ready")
    batch.api.terminate_job(jobId=job, reason="enough")
    batch.local.clock.advance(timedelta())  # it stands from now on
    batch.local.clock.advance(timedelta(seconds=seconds))
    assert batch.job(job)["status"] == status


def test_what_ignores_sigterm_is_killed_with_everything_that_it_started(
    batch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracluster_local.jobs.container.STOP_SECONDS", 0.5)
    command = "trap '' TERM; (trap '' TERM; setsid sleep 1000 & echo $!); echo $$; echo ready; while :; do sleep 0.05; done"
    job = batch.submit(batch.define("sh", "-c", command))
    batch.wait(job, "RUNNING")
    batch.wait_for_line(job, "ready")
    pids = [int(line) for line in batch.lines(batch.job(job)) if line.isdigit()]
    assert len(pids) == 2
    batch.api.terminate_job(jobId=job, reason="enough")
    assert batch.wait(job)["container"]["exitCode"] == 137
    assert wait_until_gone(pids) == []


def test_a_job_ends_at_its_timeout_by_the_clock_and_is_not_retried(batch: Any) -> None:
    settings = {"timeout": {"attemptDurationSeconds": 3600}, "retryStrategy": {"attempts": 3}}
    job = batch.submit(batch.define("sleep", "1000", **settings))
    batch.wait(job, "RUNNING")
    batch.local.clock.advance(timedelta(minutes=59))
    assert batch.job(job)["status"] == "RUNNING"
    batch.local.clock.advance(timedelta(minutes=2))
    ended = batch.wait(job)
    assert (ended["status"], ended["statusReason"]) == ("FAILED", "Job attempt duration exceeded timeout")
    assert len(ended["attempts"]) == 1


def test_a_job_ends_at_the_limit_of_memory(batch: Any) -> None:
    job = batch.run(
        "python3", "-c", "x = bytearray(2**30); import time; x[::4096] = b'1' * 2**18; time.sleep(1000)"
    )
    assert (job["status"], job["container"]["exitCode"]) == ("FAILED", 137)
    assert job["container"]["reason"] == "OutOfMemoryError: Container killed due to memory usage"


def test_an_array_runs_one_job_for_each_index(batch: Any) -> None:
    job = batch.submit(
        batch.define("sh", "-c", "exit $AWS_BATCH_JOB_ARRAY_INDEX"), arrayProperties={"size": 2}
    )
    ended = batch.wait(job)
    assert (ended["status"], ended["arrayProperties"]["statusSummary"]) == (
        "FAILED",
        {"FAILED": 1, "SUCCEEDED": 1},
    )
    children = [batch.job(f"{job}:{index}") for index in (0, 1)]
    exits = [[one["container"]["exitCode"] for one in child["attempts"]] for child in children]
    assert exits == [[0], [1]]
    assert children[1]["container"]["exitCode"] == 1


def test_a_job_waits_for_the_jobs_that_it_depends_on(batch: Any) -> None:
    definition = batch.define("sh", "-c", "sleep 0.3; cat /fsx/first 2>/dev/null; echo done >/fsx/first")
    first = batch.submit(batch.define("sh", "-c", "sleep 0.3; echo done >/fsx/first"))
    second = batch.submit(definition, dependsOn=[{"jobId": first}])
    assert batch.lines(batch.wait(second)) == ["done"]


def test_nodes_of_a_job_find_each_other_and_share_a_file_system_but_not_their_own_folders(batch: Any) -> None:
    script = (
        "echo $AWS_BATCH_JOB_NODE_INDEX of $AWS_BATCH_JOB_NUM_NODES, main ${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-me};"
        "touch /fsx/$AWS_BATCH_JOB_NODE_INDEX /run/orders/$AWS_BATCH_JOB_NODE_INDEX;"
        "while [ $(ls /fsx | wc -l) -lt 3 ]; do sleep 0.05; done; ls /run/orders; sh /run/orders/launch me"
    )
    ended = batch.run("sh", "-c", script, nodes=3)
    assert ended["status"] == "SUCCEEDED"
    children = [batch.job(f"{ended['jobId']}#{index}") for index in range(3)]
    assert [child["nodeDetails"] for child in children] == [
        {"nodeIndex": 0, "isMainNode": True},
        {"nodeIndex": 1, "isMainNode": False},
        {"nodeIndex": 2, "isMainNode": False},
    ]
    first, second, _ = (batch.lines(child) for child in children)
    assert first[:3] == ["0 of 3, main me", "0", "launch"]
    assert second[:3] == ["1 of 3, main 127.0.0.1", "1", "launch"]
    assert first[3].startswith("from /")  # the text of a node's file names the folder that stands for its own
    assert first[3].endswith("/run/orders with me")
    listed = batch.api.list_jobs(multiNodeJobId=ended["jobId"], jobStatus="SUCCEEDED")["jobSummaryList"]
    assert len(listed) == 3


def test_a_multi_node_job_ends_with_its_main_node(batch: Any) -> None:
    ended = batch.run("sh", "-c", "[ $AWS_BATCH_JOB_NODE_INDEX = 0 ] || sleep 1000; exit 0", nodes=2)
    assert ended["status"] == "SUCCEEDED"
    assert batch.job(f"{ended['jobId']}#1")["status"] == "FAILED"


def test_overrides_of_a_submission_are_shown_and_used(batch: Any) -> None:
    definition = batch.define(
        "sh", "-c", "echo $A $B", nodes=2, container={"environment": [{"name": "A", "value": "1"}]}
    )
    changed = {"targetNodes": "0:", "containerOverrides": {"environment": [{"name": "B", "value": "2"}]}}
    job = batch.submit(definition, nodeOverrides={"numNodes": 3, "nodePropertyOverrides": [changed]})
    ended = batch.wait(job)
    assert ended["nodeProperties"]["numNodes"] == 3
    assert batch.lines(batch.job(f"{job}#2")) == ["1 2"]


@pytest.mark.parametrize("nodes", [0, 1])
def test_a_job_whose_overrides_are_too_long_fails_when_it_starts(batch: Any, nodes: int) -> None:
    def ended(length: int) -> Any:
        overrides = {"environment": [{"name": "X", "value": "x" * length}]}
        ranges = {"nodePropertyOverrides": [{"targetNodes": "0:", "containerOverrides": overrides}]}
        how = {"nodeOverrides": ranges} if nodes else {"containerOverrides": overrides}
        return batch.wait(batch.submit(batch.define("true", nodes=nodes), **how))

    around = len('{"containerOverrides":[{"environment":[{"name":"X","value":""}]}]}')
    assert ended(8192 - around)["status"] == "SUCCEEDED"
    job = ended(8193 - around)
    assert (job["status"], job["statusReason"]) == (
        "FAILED",
        "Container Overrides length must be at most 8192",
    )


def test_a_lost_node_takes_its_processes_along(batch: Any) -> None:
    definition = batch.define("sh", "-c", "echo $$; exec sleep 1000", nodes=2)
    job = batch.submit(definition)
    batch.wait(job, "RUNNING")
    child = batch.wait(f"{job}#1", "RUNNING")
    deadline = time.monotonic() + 20
    while not batch.lines(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    (pid,) = (int(line) for line in batch.lines(child))
    ecs = batch.local.client("ecs", "us-east-1")
    arn = child["container"]["containerInstanceArn"]
    (host,) = ecs.describe_container_instances(cluster=arn.split("/")[1], containerInstances=[arn])[
        "containerInstances"
    ]
    batch.ec2.terminate_instances(InstanceIds=[host["ec2InstanceId"]])
    lost = batch.wait(f"{job}#1")
    assert lost["statusReason"] == f"Host EC2 (instance {host['ec2InstanceId']}) terminated."
    assert "exitCode" not in lost["container"]
    assert wait_until_gone([pid]) == []
    assert batch.job(job)["status"] == "RUNNING"  # AWS Batch ends a job only with its main node
    following = batch.submit(batch.define("sleep", "1", nodes=4))  # waits for all nodes
    batch.api.terminate_job(jobId=job, reason="enough")
    batch.wait(job)
    batch.wait(following)
    reasons = {batch.job(f"{following}#{index}")["statusReason"] for index in range(4)}
    assert reasons == {"Essential container in task exited"}  # none was placed on the lost node


def test_a_node_that_is_drained_goes_on_with_its_job_and_takes_no_other(batch: Any) -> None:
    first = batch.submit(batch.define("sleep", "1000"))
    host = batch.wait(first, "RUNNING")["container"]["containerInstanceArn"]
    ecs = batch.local.client("ecs", "us-east-1")
    ecs.update_container_instances_state(
        cluster=host.split("/")[1], containerInstances=[host], status="DRAINING"
    )
    second = batch.wait(batch.submit(batch.define("true")))
    assert second["container"]["containerInstanceArn"] != host
    assert batch.job(first)["status"] == "RUNNING"


def test_a_closed_environment_starts_nothing_and_an_idle_node_is_terminated(batch: Any) -> None:
    batch.api.update_compute_environment(computeEnvironment="nodes", state="DISABLED")
    job = batch.submit(batch.define("true"))
    time.sleep(0.5)
    assert batch.job(job)["status"] == "RUNNABLE"
    batch.api.update_compute_environment(computeEnvironment="nodes", state="ENABLED")
    assert batch.wait(job)["status"] == "SUCCEEDED"
    deadline = time.monotonic() + 10
    alive = {"pending", "running"}

    def nodes() -> list[str]:
        reservations = batch.ec2.describe_instances()["Reservations"]
        return [
            one["InstanceId"]
            for found in reservations
            for one in found["Instances"]
            if one["State"]["Name"] in alive
        ]

    while nodes():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_jobs_run_on_the_instances_of_an_unmanaged_environment_which_stay(batch: Any) -> None:
    batch.api.create_compute_environment(computeEnvironmentName="own", type="UNMANAGED")
    (own,) = batch.api.describe_compute_environments(computeEnvironments=["own"])["computeEnvironments"]
    order = [{"order": 1, "computeEnvironment": "own"}]
    batch.api.update_job_queue(jobQueue="training", computeEnvironmentOrder=order)
    job = batch.submit(
        batch.define("sh", "-c", "sleep 0.3; sh /run/orders/launch && echo $AWS_BATCH_CE_NAME")
    )
    time.sleep(0.5)
    assert batch.job(job)["status"] == "RUNNABLE"  # no instance has joined
    (node,) = join(batch, own["ecsClusterArn"], 1)
    another = batch.submit(batch.define("true", container={"resourceRequirements": WHOLE_NODE}))
    assert batch.lines(batch.wait(job))[1:] == ["own"]
    assert batch.wait(another)["status"] == "SUCCEEDED"  # after the first, on the same instance
    (kept,) = batch.ec2.describe_instances(InstanceIds=[node])["Reservations"][0]["Instances"]
    assert kept["State"]["Name"] == "running"
    batch.ec2.terminate_instances(InstanceIds=[node])
    job = batch.submit(batch.define("true"))
    time.sleep(0.5)
    assert batch.job(job)["status"] == "RUNNABLE"


WHOLE_NODE = [{"type": "VCPU", "value": "96"}, {"type": "MEMORY", "value": "1024"}]


def join(batch: Any, cluster: str, count: int) -> list[str]:
    """Let an Auto Scaling group start instances that join an ECS cluster."""
    user_data = f'#!/bin/bash\necho "ECS_CLUSTER={cluster}" >> /etc/ecs/ecs.config\n'
    data = {
        "ImageId": "ami-0123456789abcdef0",
        "InstanceType": "p4d.24xlarge",
        "UserData": base64.b64encode(user_data.encode()).decode(),
    }
    batch.ec2.create_launch_template(LaunchTemplateName="joining", LaunchTemplateData=data)
    (subnet, *_) = batch.ec2.describe_subnets()["Subnets"]
    autoscaling = batch.local.client("autoscaling", "us-east-1")
    autoscaling.create_auto_scaling_group(
        AutoScalingGroupName="joining",
        MinSize=count,
        MaxSize=count,
        VPCZoneIdentifier=subnet["SubnetId"],
        LaunchTemplate={"LaunchTemplateName": "joining", "Version": "$Latest"},
    )
    (group,) = autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    return [one["InstanceId"] for one in group["Instances"]]


def test_metrics_in_the_log_of_a_job_have_the_time_of_the_clock_once_it_was_moved(batch: Any) -> None:
    batch.local.clock.advance(timedelta(days=9))
    then = batch.local.clock.now()
    directive = {"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Name": "Loss"}]}
    line = json.dumps(
        {"_aws": {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}, "Loss": 3}
    )
    batch.run("echo", line)
    (point,) = batch.local.client("cloudwatch", "us-east-1").get_metric_statistics(
        Namespace="N",
        MetricName="Loss",
        StartTime=then - timedelta(minutes=1),
        EndTime=then + timedelta(minutes=1),
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]
    assert point["Sum"] == 3


def test_a_command_to_a_node_writes_files_and_runs_nothing_else(batch: Any, tmp_path: Path) -> None:
    job = batch.submit(
        batch.define("sh", "-c", "until cat /run/orders/note; do sleep 0.05; done 2>/dev/null")
    )
    batch.wait(job, "RUNNING")
    (node,) = (
        one["InstanceId"]
        for found in batch.ec2.describe_instances()["Reservations"]
        for one in found["Instances"]
    )
    batch.local.client("ssm", "us-east-1").send_command(
        InstanceIds=[node],
        DocumentName="AWS-RunShellScript",
        Parameters={
            "commands": [
                f"touch {tmp_path}/touched",
                "mkdir -p /run/orders",
                "echo 'until noon' >/run/orders/note.new",
                "mv /run/orders/note.new /run/orders/note",
            ]
        },
    )
    assert batch.lines(batch.wait(job)) == ["until noon"]
    assert list(tmp_path.iterdir()) == []


def test_changes_of_jobs_reach_the_rules_of_eventbridge(batch: Any) -> None:
    queue = batch.local.client("sqs", "us-east-1").create_queue(QueueName="changes")["QueueUrl"]
    events = batch.local.client("events", "us-east-1")
    pattern = '{"source": ["aws.batch"], "detail-type": ["Batch Job State Change"], "detail": {"status": ["FAILED"]}}'
    events.put_rule(Name="failed", EventPattern=pattern)
    arn = "arn:aws:sqs:us-east-1:123456789012:changes"
    events.put_targets(Rule="failed", Targets=[{"Id": "1", "Arn": arn}])
    job = batch.run("false")
    deadline = time.monotonic() + 10
    while not (sent := batch.local.deliveries()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (one,) = sent
    assert (one.target, one.event["detail"]["jobId"]) == (arn, job["jobId"])
    assert queue


def test_an_essential_container_of_several_ends_the_job(batch: Any) -> None:
    needs = [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]
    common = {"image": "registry.example.com/training:1", "resourceRequirements": needs}
    containers = [
        {**common, "name": "sidecar", "essential": False, "command": ["sleep", "600"]},
        {**common, "name": "trainer", "command": ["sh", "-c", "exit 3"]},
    ]
    definition = batch.api.register_job_definition(
        jobDefinitionName="several",
        type="container",
        ecsProperties={"taskProperties": [{"containers": containers}]},
    )["jobDefinitionArn"]
    job = batch.wait(batch.submit(definition))
    assert job["status"] == "FAILED"
    (task,) = job["attempts"][0]["taskProperties"]
    assert [(one["name"], one["exitCode"]) for one in task["containers"]] == [
        ("sidecar", 143),
        ("trainer", 3),
    ]


@pytest.mark.parametrize(("resource", "value"), [("VCPU", "97"), ("MEMORY", "1200000"), ("GPU", "9")])
def test_a_job_that_fits_on_no_node_waits_and_lets_others_run(batch: Any, resource: str, value: str) -> None:
    needs = {"VCPU": "1", "MEMORY": "64"} | {resource: value}
    sizes = [{"type": kind, "value": quantity} for kind, quantity in needs.items()]
    large = batch.submit(batch.define("true", container={"resourceRequirements": sizes}))
    batch.run("true")
    assert batch.job(large)["status"] == "RUNNABLE"


def test_lines_go_to_the_region_of_the_log_driver_and_nowhere_with_another_driver(batch: Any) -> None:
    west = batch.local.client("logs", "us-west-2")
    west.create_log_group(logGroupName="elsewhere")
    options = {"awslogs-group": "elsewhere", "awslogs-region": "us-west-2"}
    there = batch.run(
        "echo", "west", container={"logConfiguration": {"logDriver": "awslogs", "options": options}}
    )
    (event,) = west.get_log_events(
        logGroupName="elsewhere", logStreamName=there["container"]["logStreamName"]
    )["events"]
    assert event["message"] == "west"
    nowhere = batch.run("echo", "x", container={"logConfiguration": {"logDriver": "json-file"}})
    assert "logStreamName" not in nowhere["container"]


def test_jobs_end_with_the_local_aws(batch: Any) -> None:
    job = batch.submit(batch.define("sh", "-c", "echo $$; exec sleep 1000"))
    batch.wait(job, "RUNNING")
    deadline = time.monotonic() + 20
    while not batch.lines(batch.job(job)) and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(batch.lines(batch.job(job))[0])
    os.kill(pid, 0)
    batch.local.run_jobs(None)
    assert wait_until_gone([pid]) == []


def test_a_shell_finds_folder_and_variables_of_what_runs(batch: Any) -> None:
    def at(name: str) -> tuple[Path, dict[str, str]]:
        folder, variables = shell_directory(endpoint=batch.local.endpoint, key=batch.local.key, name=name)
        return Path(folder), variables

    job = batch.submit(batch.define("sh", "-c", "touch here; echo ready; sleep 60", nodes=2))
    batch.wait(job, "RUNNING")
    batch.wait_for_line(f"{job}#1", "ready")
    container = batch.job(f"{job}#1")["container"]

    folder, variables = at(container["taskArn"])
    assert (folder / "here").is_file()
    assert variables["AWS_BATCH_JOB_NODE_INDEX"] == "1"
    instances = [
        one["InstanceId"]
        for each in batch.ec2.describe_instances()["Reservations"]
        for one in each["Instances"]
    ]
    assert len({at(name)[0] for name in instances} - {folder}) == 2
    batch.api.terminate_job(jobId=job, reason="seen")
    batch.wait(job)
    with pytest.raises(LocalAwsError, match=r"UC8006: .* did not open a shell: .*nothing runs on"):
        at(container["taskArn"])
    batch.local.run_jobs(None)
    with pytest.raises(LocalAwsError, match="runs no jobs; start it with --run-jobs"):
        at(container["taskArn"])
