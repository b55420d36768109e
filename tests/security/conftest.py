"""One synthesis for all tests of security: templates, and what cdk-nag says of them."""

import functools

import pytest
from tests.security.everything import define_everything
from tests.security.nag import Nagged, nagged
from tests.security.templates import Template, templates_of


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Nagged:
    """Everything that we can make, as a user with cdk-nag synthesizes it."""
    directory = tmp_path_factory.mktemp("security")
    return nagged(directory / "cdk.out", functools.partial(define_everything, directory=directory))


@pytest.fixture(scope="session")
def templates(everything: Nagged) -> list[Template]:
    """The templates of everything that we can make."""
    return templates_of(everything.assembly)
