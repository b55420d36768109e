"""Jobs and their gates in a rollout file."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from ultracluster_spec.job import NamedJob
from ultracluster_spec.neuron import Neuron
from ultracluster_stacks.config import LoadedRollout

_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
_IMAGE = "image: 1"


def test_settings_of_jobs_are_read(load: Callable[..., LoadedRollout]) -> None:
    edit = (_IMAGE, f"neuron: {{compiler_flags: [--a, --b]}}\n            attempts: 2\n            {_IMAGE}")
    (found,) = load(edit).config.waves[0].clusters[0].jobs
    assert found.neuron == Neuron(compiler_flags=("--a", "--b"))
    assert (found.kind, found.attempts, found.depends_on) == ("multi-node", 2, ())


def test_variables_keep_their_names_and_values(load: Callable[..., LoadedRollout]) -> None:
    edit = (_ENVIRONMENT, "{NEURON_RT_LOG_LEVEL: WARNING, OWN: x}")
    (found,) = load(edit).config.waves[0].clusters[0].jobs

    assert found.environment == {"NEURON_RT_LOG_LEVEL": "WARNING", "OWN": "x"}


_ENVIRONMENT_LINE = "            environment: {NEURON_RT_LOG_LEVEL: INFO}\n"
_GATES = "            gates: {fabric: true, smoke: true}\n"


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
