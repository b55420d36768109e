"""How the tests of a part did, as a row of a table."""

from dataclasses import astuple, dataclass

__all__ = ["Row"]


@dataclass(frozen=True)
class Row:
    """How the tests of one part did.

    Attributes:
        part: Name of the part.
        date: The day of the run, UTC.
        made: Number of changes that mutmut made.
        tried: How many of them were tried.
        killed: Those that made a test fail.
        timed_out: Those that made the tests run for ever.
        survived: Those that no test noticed, without the equal ones.
        equal: Those that change nothing that can be seen, each with its reason in equal.toml.
    """

    part: str
    date: str
    made: int
    tried: int
    killed: int
    timed_out: int
    survived: int
    equal: int

    @property
    def score(self) -> float:
        """How many per cent of the changes that can be seen the tests noticed; rounded down to a tenth."""
        return (self.killed + self.timed_out) * 1000 // (self.tried - self.equal) / 10

    def __str__(self) -> str:
        return f"| {' | '.join(map(str, astuple(self)))} | {self.score:.1f} % |"
