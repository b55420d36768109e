"""Gates of a job in a rollout file."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from ultracluster_spec.job import NamedJob
from ultracluster_stacks.config import LoadedRollout

_ENVIRONMENT_LINE = "            environment: {NEURON_RT_LOG_LEVEL: INFO}\n"
_GATES = "            gates: {fabric: true, smoke: true}\n"
_CLUSTER = "waves[0].clusters[0]"
_JOB = f"{_CLUSTER}.jobs[0]"


def test_a_job_has_no_gates_by_default(load: Callable[..., LoadedRollout]) -> None:
    (job,) = load().config.waves[0].clusters[0].jobs
    assert job.gate_names == ()


def test_gates_are_called_after_their_job(load: Callable[..., LoadedRollout]) -> None:
    (job,) = load((_ENVIRONMENT_LINE, _ENVIRONMENT_LINE + _GATES)).config.waves[0].clusters[0].jobs
    assert job.gate_names == ("pretrain-fabric", "pretrain-smoke")


def test_the_example_of_the_documentation_is_one() -> None:
    text = (Path(__file__).parents[3] / "docs/concepts/training.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    job = TypeAdapter(NamedJob).validate_json(json.dumps(yaml.safe_load(example)["jobs"][0]))
    assert job.gate_names == ("pretrain-fabric", "pretrain-smoke")
    assert job.gates.min_bandwidth == 30


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "image: 1",
            "gates: {min_bandwidth: 0}\n            image: 1",
            "UC6151",
            f"{_JOB}.gates.min_bandwidth",
            "got 0. Allowed: 1 to 10,000",
        ),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        (
            [
                (
                    "image: 1",
                    "gates: {fabric: true, min_bandwidth: 1, max_latency: 1}\n            image: 1",
                )
            ],
            "UC6151",
        ),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)
