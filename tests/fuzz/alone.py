"""One file through the command line as users start it: python tests/fuzz/alone.py FILE MEMORY. Adds the MiB that it took to MEMORY."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz.many import most_mib

from ultracluster_cli.main import main

if __name__ == "__main__":
    code = main(["validate", sys.argv[1], "--json"])
    with Path(sys.argv[2]).open("a") as memory:
        memory.write(f"{most_mib()}\n")
    sys.exit(code)
