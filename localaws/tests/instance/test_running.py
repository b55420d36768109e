"""The local AWS of a process."""

from pathlib import Path

import pytest

from ultracluster_local.instance import running as module
from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.running import Running, is_running, running, set_running


@pytest.fixture(autouse=True)
def _none_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RUNNING", [])


def local(directory: str) -> Running:
    return Running(clients=Clients(endpoint="http://localhost:1", key="LOCAL1"), directory=Path(directory))


def test_without_a_running_local_aws_the_error_reports_it() -> None:
    assert not is_running()
    with pytest.raises(RuntimeError, match="no local AWS is running in this process"):
        running()


def test_a_process_has_the_local_aws_that_was_registered_last() -> None:
    set_running(local("one"))
    set_running(second := local("two"))

    assert is_running()
    assert running() is second
    set_running(None)
    assert not is_running()
