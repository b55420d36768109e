"""Every error that pydantic can raise here has words of ours."""

from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import Finding
from ultracluster_spec.job import Job
from ultracluster_spec.queue import Queue
from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import Value, annotations
from ultracluster_stacks.config.loading.error_messages import TRANSLATED_TYPES
from ultracluster_stacks.config.reading.partial import part_of

# One value of each kind that a YAML file can hold, wrong in most places.
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**15, 1.5, "", "x", "A" * 300, "\u00fc", "2026-13-01T00:00:00Z", (), (None,), ("x", 1),
    {}, {"x": 1}, {"": ""},
)  # fmt: skip
_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
_CLUSTER = "waves[0].clusters[0]"
_JOB = f"{_CLUSTER}.jobs[0]"


def _parts(part: type[Value]) -> Iterator[type[Value]]:
    yield part
    for annotation in annotations(part).values():
        if inner := part_of(annotation):
            yield from _parts(inner)


def test_every_error_type_that_can_occur_is_translated() -> None:
    occurred: set[str] = set()
    parts = list(_parts(Rollout))
    for part in parts:
        validate = TypeAdapter(part).validate_python
        for values in [{}, None, 5, (), {"unknown": 1}] + [
            {name: value} for name in annotations(part) for value in _VALUES
        ]:
            try:
                validate(values)
            except ValidationError as error:
                occurred |= {details["type"] for details in error.errors()}
            else:  # what requires a value is not valid with one of them
                assert part not in (Rollout, Cluster, Job)
                assert values != {"unknown": 1}

    assert len(parts) >= 9
    assert occurred == TRANSLATED_TYPES


@pytest.mark.slow
def test_no_message_is_pydantics(findings: Callable[..., list[Finding]], valid: str) -> None:
    for value in ("~", "true", "-1", "1.5", '""', "text", "[]", "[1]", "{}", "{a: 1}"):
        for line in valid.splitlines():
            key = line.partition(": ")[0]
            if line.endswith(":") or ": " not in line:
                continue
            for finding in findings((line, f"{key}: {value}")):
                assert "Input" not in str(finding)
                assert "pydantic" not in str(finding)
                assert "cannot be used here" not in str(finding)  # the words for an error without words


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Queue().priority = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    "mistake",
    [
        ("region:", "regio:", "UC1020", f"{_CLUSTER}.regio", "Did you mean 'region'?"),
        ("defaults:", "default:", "UC1020", "default", "Did you mean 'defaults'?"),
        ("  image_id:", "  imageid:", "UC1020", "defaults.imageid", "Did you mean 'image_id'?"),
        ("version: 1\n", "", "UC1021", "version", "version is required"),
        ("version: 1", "version: 2", "UC1023", "version", "got 2. Allowed: 1"),
        ("nodes: 4", "nodes: ~", "UC1021", f"{_CLUSTER}.nodes", "required and has no value"),
        ("nodes: 4", "nodes: [4]", "UC1022", f"{_CLUSTER}.nodes", "got a list"),
        (
            "name: train",
            "name: 5",
            "UC1022",
            f"{_CLUSTER}.name",
            'got 5. Allowed: text. Write it in quotes: "5"',
        ),
        ("{cidr: 10.0.0.0/16}", "10.0.0.0/16", "UC1022", f"{_CLUSTER}.network", "Allowed: a mapping"),
        ("[train.py]", "train.py", "UC1022", f"{_JOB}.command", "Allowed: a list"),
        ("{team: research}", "[research]", "UC1022", "defaults.tags", "got a list. Allowed: a mapping"),
        (
            "capacity-block",
            "reserved",
            "UC1023",
            f"{_CLUSTER}.capacity.market_type",
            "capacity-block, on-demand, spot",
        ),
        (
            "capacity-block",
            "on_demand",
            "UC1023",
            f"{_CLUSTER}.capacity.market_type",
            "Did you mean 'on-demand'?",
        ),
        (
            "nodes:",
            "account: 111122223333\n        nodes:",
            "UC1022",
            f"{_CLUSTER}.account",
            "12 digits in quotes",
        ),
        ('"2026-12-01T12:00:00Z"', "20261201", "UC1022", f"{_CLUSTER}.capacity.start", "ISO 8601"),
        (_ENVIRONMENT, "{LEVEL: 5}", "UC1022", f"{_JOB}.environment.LEVEL", 'Write it in quotes: "5"'),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([('"2026-12-01T12:00:00Z"', "2026-12-01T12:00:00Z")], "UC1022"),
        ([("nodes:", "account: null\n        nodes:")], "UC1022"),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)
