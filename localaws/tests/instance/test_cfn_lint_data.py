import importlib.util
from collections.abc import Iterator

import pytest

from ultracluster_local.instance.cfn_lint_data import data_directory


@pytest.fixture
def unread() -> Iterator[None]:
    data_directory.cache_clear()
    yield
    data_directory.cache_clear()


@pytest.mark.usefixtures("unread")
def test_data_is_that_of_the_installed_package() -> None:
    assert (data_directory() / "schemas" / "providers" / "us-east-1.json").is_file()


@pytest.mark.usefixtures("unread")
def test_an_environment_without_cfn_lint_is_told_what_to_reinstall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="reinstall ultracluster-local"):
        data_directory()
