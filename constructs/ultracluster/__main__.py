"""Run the command line: `python -m ultracluster`."""

import runpy

runpy.run_module("ultracluster_cli", run_name="__main__", alter_sys=True)
