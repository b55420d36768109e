"""`ultracluster run` on a deployed quick start: its nodes are processes, and a Capacity Block ends under a job."""

import json
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.integration.quickstart_block import BLOCK, REGION, deploy_to_run_jobs, synthesize
from tests.processes import eventually

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_cli.main import main
from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples/hello-trainium"


@pytest.fixture
def cluster(account: LocalAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalAws]:
    deploy_to_run_jobs(account, synthesize(tmp_path), Path(sys.executable).parent)
    monkeypatch.chdir(tmp_path)
    yield account
    account.run_jobs(None)


def test_a_run_starts_with_its_block_is_checkpointed_and_drained_and_resumes_in_the_extension(
    cluster: LocalAws, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(*words: str, code: int = 0) -> str:
        assert main(list(words)) == code, capsys.readouterr()
        return capsys.readouterr().out

    def log(job: str) -> str:
        return command("jobs", "logs", job)

    def at(text: str) -> None:
        cluster.event_settings.most_firings = 1
        cluster.clock.set(datetime.fromisoformat(text))

    batch = cluster.client("batch", REGION)

    def state(job: str) -> str:
        return str(batch.describe_jobs(jobs=[job])["jobs"][0]["status"])

    at("2029-12-31T11:30:00+00:00")
    words = ["--folder", str(EXAMPLE), "--cluster", "quickstart", "--nodes", "2", "--launcher", "raw"]
    fast = ["--env", "UC_CHECKPOINT_POLL_SECONDS=0.2", "--", "--checkpoints", "/fsx/hello"]
    told = json.loads(
        command("run", "train.py", *words, "--json", *fast, "--steps", "100000", "--step-seconds", "0.05")
    )
    job = told["job"]
    assert told["resume"] == 10
    (shown,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert shown["tags"]["ultracluster:code"] in told["code"]
    assert shown["tags"]["ultracluster:command"].startswith("train.py --checkpoints /fsx/hello")
    time.sleep(1)
    assert state(job) == "RUNNABLE"  # the block has not started

    at("2030-01-01T11:31:00+00:00")
    eventually(lambda: state(job) == "RUNNING")
    eventually(lambda: "step 10 loss" in log(job))
    assert "2 nodes, from step 0" in log(job)

    at("2030-01-15T10:31:00+00:00")  # a minute after the checkpoint request
    eventually(lambda: "checkpoint of step" in log(job))
    step = log(job).rpartition("checkpoint of step ")[2].split()[0]
    at("2030-01-15T10:51:00+00:00")
    eventually(lambda: state(job) == "FAILED")
    (ended,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert f"Capacity Block {BLOCK['reservation_id']} ends 2030-01-15 11:30 UTC" in ended["statusReason"]

    ec2 = cluster.client("ec2", REGION)
    cluster.capacity_market(REGION).reservations[str(BLOCK["reservation_id"])].end = datetime.fromisoformat(
        "2030-01-22T11:30:00+00:00"
    )
    assert ec2.describe_capacity_reservations()["CapacityReservations"][0]["State"] == "active"
    at("2030-01-15T11:00:00+00:00")
    at("2030-01-15T11:10:00+00:00")
    jobs: list[dict[str, Any]] = []

    def resumed() -> bool:
        jobs[:] = json.loads(command("jobs", "list", "quickstart", "--json"))["jobs"]
        return any(one["resumes"] == job for one in jobs)

    eventually(resumed)
    (new,) = jobs
    eventually(lambda: state(new["job"]) == "RUNNING")
    eventually(lambda: f"2 nodes, from step {step}" in log(new["job"]))
    command("jobs", "stop", new["job"], "--now")


@pytest.mark.deep
def test_a_run_is_followed_to_its_end_and_its_code_is_uploaded_once(
    cluster: LocalAws, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.clock.set(datetime.fromisoformat("2030-01-01T11:31:00+00:00"))
    words = ["run", "train.py", "--folder", str(EXAMPLE), "--cluster", "quickstart", "--nodes", "2"]
    raw = ["--launcher", "raw"]
    assert main([*words, *raw, "--", "--steps", "20"]) == 0
    out, err = capsys.readouterr()
    assert "step 20 loss" in out
    assert "_aws" not in out
    assert "train is SUCCEEDED" in err
    assert main([*words, *raw, "--", "--steps", "none"]) == 4
    assert "called with arguments that it does not take" in capsys.readouterr().err
    s3 = cluster.client("s3", REGION)
    (bucket,) = (one["Name"] for one in s3.list_buckets()["Buckets"] if "checkpoints" in one["Name"])
    assert len(s3.list_objects_v2(Bucket=bucket, Prefix="code/")["Contents"]) == 1
    for mistake in (["--launcher", "mpi"], ["--nodes", "9"], ["--job", "nothing"], ["--env", "X"]):
        assert main([*words, *mistake]) == 2, mistake
        assert capsys.readouterr().err.splitlines()[-1].startswith("UC")


@pytest.mark.deep
def test_a_run_has_the_launcher_of_its_job_unless_told_otherwise(
    cluster: LocalAws,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))  # this repository ignores the folder
    (tmp_path / "train.py").write_text("import torch\n")
    batch = cluster.client("batch", REGION)
    words = [
        "run",
        "train.py",
        "--folder",
        str(tmp_path),
        "--cluster",
        "quickstart",
        "--nodes",
        "2",
        "--json",
    ]
    launched = []
    for launcher in ([], ["--launcher", "raw"], ["--launcher", "torchrun"]):
        assert main([*words, "--name", "it", *launcher]) == 0
        (job,) = batch.describe_jobs(jobs=[json.loads(capsys.readouterr().out)["job"]])["jobs"]
        command = job["nodeProperties"]["nodeRangeProperties"][0]["container"]["command"]
        launched.append((command[command.index(LAUNCHER_PATH) + 1], "--no-python" in command))
        batch.terminate_job(jobId=job["jobId"], reason="it was seen")

    # Without --no-python, torchrun runs its program with Python; the program that unpacks the code is a command.
    assert launched == [("torchrun", True), ("raw", False), ("torchrun", True)]
