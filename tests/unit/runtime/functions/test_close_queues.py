from typing import Any

import pytest

from ultracluster_runtime.functions import close_queues

QUEUES = [
    "arn:aws:batch:us-east-2:123456789012:job-queue/a",
    "arn:aws:batch:us-east-2:123456789012:job-queue/b",
]
TAG = "ultracluster:closed-by-budget"


class FakeAws:
    """Both clients, with what they were asked in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.fails = ""

    def tag_resource(self, **asked: Any) -> None:
        assert set(asked["tags"]) == {TAG}
        self.asked.append(("tag", asked["resourceArn"]))

    def update_job_queue(self, **asked: str) -> None:
        if asked["jobQueue"] == self.fails:
            raise RuntimeError("the queue is being updated")
        self.asked.append((asked["state"], asked["jobQueue"]))

    def publish(self, **asked: str) -> None:
        assert len(asked["Subject"]) < 100
        assert TAG in asked["Message"]
        self.asked.append(("told", asked["TopicArn"]))


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> FakeAws:
    fake = FakeAws()
    monkeypatch.setattr(close_queues.boto3, "client", lambda _: fake)
    for name, value in {"UC_JOB_QUEUES": ",".join(QUEUES), "UC_TOPIC": "topic", "UC_CLOSED_TAG": TAG}.items():
        monkeypatch.setenv(name, value)
    return fake


def close() -> Any:
    return close_queues.handler({}, None)


def test_tags_and_closes_each_queue_and_then_notifies(aws: FakeAws) -> None:
    close()

    first, second = QUEUES
    assert aws.asked == [
        ("tag", first),
        ("DISABLED", first),
        ("tag", second),
        ("DISABLED", second),
        ("told", "topic"),
    ]


def test_closing_is_idempotent(aws: FakeAws) -> None:
    close()
    once = list(aws.asked)
    close()

    assert aws.asked == once * 2


def test_fails_if_a_queue_stays_open_and_closes_it_on_retry(aws: FakeAws) -> None:
    aws.fails = QUEUES[1]
    with pytest.raises(RuntimeError):
        close()
    assert ("told", "topic") not in aws.asked

    aws.fails = ""
    close()
    assert ("DISABLED", QUEUES[1]) in aws.asked
    assert aws.asked[-1] == ("told", "topic")


def test_source_fits_into_a_template() -> None:
    text = open(close_queues.__file__, encoding="utf-8").read()  # noqa: PTH123, SIM115 - the module's own file

    assert len(text) < 4096  # of inline code, CloudFormation guide, AWS::Lambda::Function Code, read 2026-11
