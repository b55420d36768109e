"""What is found in the valid rollout with buckets."""

from collections.abc import Callable

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
JOBS_LINE = "        jobs:\n"
BUCKET_KEY = "arn:aws:kms:us-east-2:123456789012:key/mrk-0123456789abcdef0123456789abcdef"


def bucket_findings(findings: Findings, *lines: str) -> list[tuple[str, str]]:
    added = "".join(f"        {line}\n" for line in lines)
    return [
        (each.code, each.path.removeprefix("waves[0].clusters[0]."))
        for each in findings((JOBS_LINE, added + JOBS_LINE))
    ]
