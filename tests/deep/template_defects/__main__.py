"""`python -m tests.deep.template_defects` prints what ``ultracluster check`` finds of what it has not seen."""

import argparse
import sys

from tests.deep.template_defects.judge import report

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--list", action="store_true", help="name what is missed and what is newly found in rewrites"
    )
    sys.stdout.write(report(listing=parser.parse_args().list))
