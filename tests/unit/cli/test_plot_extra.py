"""A missing library for charts is a finding that says what to install."""

import pytest

from ultracluster_cli.plot_extra import plot_extra
from ultracluster_rules.findings import FindingsError


def test_a_missing_library_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(FindingsError, match=r"^UC9209: plotly .*ultracluster\[plot\]"), plot_extra():
        raise ModuleNotFoundError(name="plotly")


def test_other_errors_of_a_chart_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), plot_extra():
        raise ZeroDivisionError
