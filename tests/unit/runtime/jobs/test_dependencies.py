"""The order in which a job and its dependencies are submitted."""

from typing import Any

import pytest

from ultracluster_runtime.jobs.dependencies import (
    array_size_of,
    dependencies_of,
    job_name,
    queue_of,
    submission_order,
)
from ultracluster_spec.findings import FindingsError


def definition(name: str, *after: str, **tags: str) -> dict[str, Any]:
    options = {"logConfiguration": {"options": {"awslogs-stream-prefix": name}}}
    tags = {f"ultracluster:{key.replace('_', '-')}": value for key, value in tags.items()}
    if after:
        tags["ultracluster:after"] = " ".join(after)
    return {"jobDefinitionName": f"Generated-{name}", "containerProperties": options, "tags": tags}


def order(job: dict[str, Any], *others: dict[str, Any]) -> list[str | None]:
    return [job_name(one) for one in submission_order(job, [*others, job])]


def test_job_without_dependencies_is_submitted_alone() -> None:
    assert order(definition("train"), definition("other")) == ["train"]


def test_jobs_are_submitted_once_and_after_their_dependencies() -> None:
    fetch, clean = definition("fetch"), definition("clean", "fetch")
    both = definition("train", "fetch", "clean")
    assert order(both, clean, fetch) == ["fetch", "clean", "train"]
    assert order(definition("last", "train", "clean"), both, clean, fetch) == [
        "fetch",
        "clean",
        "train",
        "last",
    ]


def test_named_older_revision_is_submitted() -> None:
    old, new = definition("train", "fetch"), definition("train")
    assert submission_order(old, [new, definition("fetch")])[-1] is old


def test_refuses_an_unknown_dependency() -> None:
    with pytest.raises(FindingsError, match=r"UC6203: 'train' depends on 'fetch'.*--alone"):
        order(definition("train", "fetch"))


@pytest.mark.parametrize("after", [["train"], ["fetch"]])
def test_refuses_circular_dependencies(after: list[str]) -> None:
    with pytest.raises(FindingsError, match="UC6113: circular dependency: 'train' waits for"):
        order(definition("train", *after), definition("fetch", "train"))


def test_reads_size_and_queue_of_the_definition() -> None:
    tagged = definition("rate", array_size="8", queue="arn:aws:batch:us-east-2:1:job-queue/small")
    assert (array_size_of(tagged), queue_of(tagged)) == (8, "arn:aws:batch:us-east-2:1:job-queue/small")
    assert (array_size_of({}), queue_of({}), dependencies_of({}), job_name({})) == (None, None, (), None)
