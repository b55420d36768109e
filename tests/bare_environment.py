"""An environment for child processes that holds no credentials, no Region and no home."""

import os

# What finds programs, and what keeps their temporary files and caches inside the repository's ignored folders.
_KEPT = ("PATH", "TMPDIR", "JSII_RUNTIME_PACKAGE_CACHE_ROOT", "CDK_VALIDATION")


def bare_environment(**more: str) -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | more
