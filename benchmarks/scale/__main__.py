"""Print what a very large number of chips needs, breaks and loses: `python -m scale --chips 100000` in benchmarks/."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from scale import ASSUMPTION_BASES, Assumptions, propose_layout, report_markdown

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report of a layout as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m scale", description=__doc__)
    parser.add_argument("--chips", type=int, required=True, help="number of chips")
    parser.add_argument("--instance-type", default="trn2.48xlarge")
    parser.add_argument("--regions", help="comma-separated; default: all known to sell blocks of the type")
    parser.add_argument(
        "--assume", action="append", default=[], metavar="NAME=NUMBER", help="replace an assumption"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the simulations")
    options = parser.parse_args(arguments)
    try:
        layout = propose_layout(
            options.chips,
            instance_type=options.instance_type,
            regions=options.regions and [each.strip() for each in options.regions.split(",")],
            assumptions=Assumptions(**_assumed(options.assume)),
        )
    except ValueError as error:
        parser.error(str(error))
    sys.stdout.write(report_markdown(layout, seed=options.seed))


def _assumed(texts: Sequence[str]) -> dict[str, Any]:
    assumed: dict[str, Any] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in ASSUMPTION_BASES:
            raise ValueError(f"unknown assumption {name!r}; known: {', '.join(ASSUMPTION_BASES)}")
        # A count must be a whole number: half a queue does not exist.
        assumed[name] = type(getattr(Assumptions(), name))(number)
    return assumed


if __name__ == "__main__":
    main()
