"""A bad input of the catalogue, and how `ultracluster validate` reacts to it."""

from dataclasses import dataclass

from tests.unit.stacks.config.conftest import VALID

__all__ = ["CLUSTER", "ON_DEMAND", "Row", "capacity", "cluster", "job", "refused", "taken"]

CLUSTER = "waves[0].clusters[0]"
"""Place of the one cluster of the valid rollout, which reactions write as @."""

Edit = tuple[str, str]

ON_DEMAND = (
    "          market_type: capacity-block\n          reservation_id: cr-0123456789abcdef0\n",
    "          market_type: on-demand\n",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """An input.

    Attributes:
        number: Number of its row in the catalogue, 1 to 92.
        what: The input in words.
        text: The rollout file.
        exit_code: How the command ends.
        reaction: Every finding in the order of the output: code, line and place.
    """

    number: int
    what: str
    text: str
    exit_code: int
    reaction: tuple[str, ...]

    def __str__(self) -> str:
        return f"row {self.number}: {self.what}"


def refused(number: int, what: str, given: str | list[Edit], *reaction: str) -> Row:
    """An input that ends the command with 2; `given` is a whole file or edits of the valid rollout."""
    return Row(number=number, what=what, text=_text(given), exit_code=2, reaction=reaction)


def taken(number: int, what: str, given: str | list[Edit], *reaction: str) -> Row:
    """An input that is taken, with the warnings that are shown."""
    return Row(number=number, what=what, text=_text(given), exit_code=0, reaction=reaction)


def _text(given: str | list[Edit]) -> str:
    if isinstance(given, str):
        return given
    text = VALID
    for old, new in given:
        if old not in text:
            raise ValueError(f"{old!r} is not in the rollout")
        text = text.replace(old, new, 1)
    return text


def cluster(lines: str) -> Edit:
    """Add keys to the cluster, from line 13."""
    return "        nodes: 4\n", f"        nodes: 4\n        {lines}\n"


def capacity(line: str) -> Edit:
    """Add a key to the capacity, in line 15."""
    return "market_type: capacity-block\n", f"market_type: capacity-block\n          {line}\n"


def job(line: str) -> Edit:
    """Add a key to the job, in line 22."""
    return "image: 1", f"{line}\n            image: 1"
