"""One drill, from the standing order to the report and the end, on both ways into a Capacity Block, with faults on the way."""

from pathlib import Path

import pytest
from tests.integration.drill import Drill
from tests.integration.page_account import Account

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drill-cache")


def test_a_life(local_aws: LocalAws, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(local_aws, tmp_path, cache=cache)
    account.replace_surroundings(monkeypatch)
    drill = Drill(account, "batch")
    drill.prepare()
    drill.buy()
    drill.deploy()
    drill.train()
    drill.lose_a_node()
    drill.extend()
    drill.end()
    assert drill.report["paid_minutes"] > 0
