"""Run the command line as `python -m ultracluster_cli`, where the script `ultracluster` is not on the search path."""

import sys

from ultracluster_cli.main import main

if __name__ == "__main__":
    sys.exit(main())
