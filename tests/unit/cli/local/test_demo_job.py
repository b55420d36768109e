"""What the demo says of a job that does not train."""

from typing import Any

import pytest

from ultracluster_cli.local import demo_job
from ultracluster_spec.findings import FindingsError


class FakeAws:
    """Answers of AWS Batch and CloudWatch Logs about one job."""

    def __init__(self, status: str, *lines: str) -> None:
        self.status, self.lines = status, lines

    def __call__(self, _service: str) -> "FakeAws":
        return self

    def describe_jobs(self, *, jobs: list[str]) -> dict[str, Any]:
        container = {"logStreamName": "stream", "exitCode": 1}
        return {
            "jobs": [
                {
                    "jobId": jobs[0],
                    "status": self.status,
                    "statusReason": "Essential container in task exited",
                    "container": container,
                }
            ]
        }

    def get_log_events(self, **request: Any) -> dict[str, Any]:
        lines = () if request.get("nextToken") else self.lines
        return {
            "events": [{"timestamp": 0, "message": line} for line in lines],
            "nextForwardToken": "end",
        }


def test_a_job_that_fails_at_once_is_told_with_its_last_words() -> None:
    aws = FakeAws(
        "FAILED", "Traceback (most recent call last):", "ModuleNotFoundError: No module named 'numpy'"
    )

    with pytest.raises(
        FindingsError, match=r"job j-1 is FAILED: Essential container .* No module named 'numpy'"
    ):
        demo_job._Log("j-1", aws)


def test_a_job_that_fails_later_is_told_too() -> None:
    aws = FakeAws("RUNNING", "step 1 loss 2.0")
    log = demo_job._Log("j-1", aws)
    log.show_steps(1)
    aws.status = "FAILED"

    with pytest.raises(FindingsError, match=r"FAILED.* its last line: step 1 loss 2.0"):
        log.show_steps(1)


def test_a_job_that_does_not_start_is_told_in_one_short_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_job, "_PATIENCE_SECONDS", 0.1)

    with pytest.raises(FindingsError) as raised:
        demo_job._Log("j-1", FakeAws("RUNNABLE"))

    assert "no job j-1 that is RUNNING within 0 s" in str(raised.value)
    assert len(str(raised.value)) < 200
