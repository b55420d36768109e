"""`python -m tests.deep.template_defects` prints what the template check finds of the seeds, by kind."""

import argparse
import sys

from tests.deep.template_defects import public, table

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the seeds that are missed")
    options = parser.parse_args()
    sys.stdout.write(table.report() + public.report())
    sys.stdout.write("".join(f"{line}\n" for line in table.missed()) if options.list else "")
