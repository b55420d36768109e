"""`make -C localaws field` repeats what AWS was seen to do on the local AWS and prints where the two agree."""

import argparse
import datetime as dt
import logging
import re
import sys
from pathlib import Path
from typing import Final

from tests.field.case import CASES, cases
from tests.field.run import DISAGREED, MARKED, run
from tests.field.table import table

from ultracluster_local import LocalAws

_PAGE: Final = Path(__file__).parents[3] / "docs" / "evidence" / "field.md"
_TABLE: Final = re.compile(r"(<!-- table -->\n).*(<!-- end of table -->)", re.DOTALL)


def main(*, folder: Path, chosen: str, write: bool) -> int:
    """Run the cases and print the table.

    Args:
        folder: Folder of the cases.
        chosen: Part of the names of the cases to run; empty for all.
        write: Whether to write the table to docs/evidence/field.md.

    Returns:
        1 if the local AWS disagrees in a case, else 0.
    """
    logging.disable(logging.ERROR)
    with LocalAws() as local:
        results = [(case, run(case, local)) for case in cases(folder) if chosen in f"{case.id}-{case.name}"]
    for case, outcome in results:
        if outcome.verdict in {MARKED, DISAGREED}:
            sys.stdout.write(f"{outcome.verdict} {case.id} {case.name}: {case.condition}\n")
            sys.stdout.write(
                f"    local AWS: {outcome.said}\n"
                if outcome.verdict == DISAGREED
                else f"    {outcome.said}\n"
            )
            if outcome.verdict == DISAGREED:
                sys.stdout.write(f"    AWS:       {case.quote} ({case.url})\n")
    shown = table(results)
    sys.stdout.write(f"\n{shown}\n")
    if write:
        today = dt.datetime.now(tz=dt.UTC).date().isoformat()
        page = _PAGE.read_text("utf-8")
        _PAGE.write_text(_TABLE.sub(rf"\g<1>\nRun on {today}.\n\n{shown}\n\n\g<2>", page), encoding="utf-8")
    return 1 if any(outcome.verdict == DISAGREED for _, outcome in results) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.field", description=__doc__)
    parser.add_argument("chosen", nargs="?", default="", help="part of the names of the cases to run")
    parser.add_argument("--cases", type=Path, default=CASES, help="folder of the cases")
    parser.add_argument("--write", action="store_true", help="write the table to docs/evidence/field.md")
    options = parser.parse_args()
    sys.exit(main(folder=options.cases, chosen=options.chosen, write=options.write))
