"""Import the libraries that draw charts, which are an optional dependency."""

from collections.abc import Iterator
from contextlib import contextmanager

from ultracluster_rules.findings import FindingsError


@contextmanager
def plot_extra() -> Iterator[None]:
    """Import matplotlib or plotly in the body, or raise UC9209 if the library is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        problem = f"{error.name} is required to draw charts"
        remedy = "Install it with: pip install 'ultracluster[plot]'"
        raise FindingsError.of("UC9209", problem, remedy=remedy) from error
