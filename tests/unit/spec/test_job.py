"""Jobs in a rollout file."""

from collections.abc import Callable

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
