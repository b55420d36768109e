"""`python -m tests.deep.template_defects` prints what ``ultracluster check`` finds of what it has not seen."""

import argparse
import sys

from tests.deep.template_defects.judge import accept, report, third_report

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--list", action="store_true", help="name what is missed and what is newly found in rewrites"
    )
    parser.add_argument(
        "--third", action="store_true", help="judge only the set that was written without a look at the rules"
    )
    parser.add_argument(
        "--accept", action="store_true", help="write the codes found of each defect, which the suite compares"
    )
    options = parser.parse_args()
    if options.accept:
        accept()
        sys.exit()
    judge = third_report if options.third else report
    sys.stdout.write(judge(listing=options.list))
