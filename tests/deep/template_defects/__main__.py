"""`python -m tests.deep.template_defects` prints what ``ultracluster validate`` finds of what it has not seen."""

import argparse
import sys
from functools import partial

from tests.deep.template_defects.judge import accept, blind_report, report
from tests.deep.template_defects.templates import BLIND_SETS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--list", action="store_true", help="name what is missed and what is newly found in rewrites"
    )
    parser.add_argument(
        "--only", choices=BLIND_SETS, help="judge only one set by an author who had not seen the rules"
    )
    parser.add_argument(
        "--accept", action="store_true", help="write the codes found of each defect, which the suite compares"
    )
    options = parser.parse_args()
    if options.accept:
        accept()
        sys.exit()
    judge = partial(blind_report, options.only) if options.only else report
    sys.stdout.write(judge(listing=options.list))
