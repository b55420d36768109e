"""Search Capacity Block offerings in many Regions concurrently. Nothing here can buy."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ultracluster_catalog.limits.quotas import capacity_block_quota
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_runtime.aws.aws_session import refuse_credentials
from ultracluster_runtime.purchasing.aws_errors import UNREADABLE_ANSWER, is_zero_quota
from ultracluster_runtime.purchasing.effects import DescribeOfferings, Page, ReadFailed
from ultracluster_runtime.purchasing.offerings import Offering
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import RuleRecord

_MOST_THREADS: Final = 32
_MOST_PAGES: Final = 100
# AWS throttles searches without documented limits; these pauses were sufficient (2026).
_PAUSES: Final = (4.0, 15.0, 45.0)
_NO_CREDENTIALS: Final = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "NoCredentialsError",
        "PartialCredentialsError",
        "RequestExpired",
        "SSOTokenLoadError",
        "SignatureDoesNotMatch",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
        "UnrecognizedClientException",
    }
)
_NOT_SOLD: Final = "not supported for Capacity Blocks"


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """Search criteria."""

    regions: tuple[str, ...]
    instance_type: str | None = None  # None for UltraServers
    ultraserver_type: str | None = None
    counts: tuple[int, ...]  # numbers of instances or UltraServers; each is a separate request
    hours: tuple[int, ...]  # durations in hours; each is a separate request
    start_after: datetime
    start_before: datetime
    end_by: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """Search result."""

    offerings: list[Offering] = field(default_factory=list)  # unique offerings, unsorted
    findings: list[Finding] = field(default_factory=list)  # Regions without an answer, unreadable offerings
    not_sold: list[str] = field(default_factory=list)  # Regions that do not sell this capacity


Read = Callable[[DescribeOfferings], Page[Offering] | ReadFailed]


def search_offerings(
    search: Search, *, read: Read, sleep: Callable[[float], None] = time.sleep
) -> SearchResult:
    """Search offerings in all Regions concurrently, with a thread per Region; `read` is called from several threads.

    A Region that fails becomes a finding and does not stop the others, unless all refuse the credentials (UC9009).
    """
    result = SearchResult()
    if not search.regions:
        return result
    offered: dict[str, Offering] = {}
    refusals: list[ReadFailed] = []
    with ThreadPoolExecutor(max_workers=min(_MOST_THREADS, len(search.regions))) as threads:
        answers = threads.map(lambda region: _search_region(search, region, read, sleep), search.regions)
        for region, (pages, failure) in zip(search.regions, answers, strict=True):
            offered |= {offering.offering_id: offering for page in pages for offering in page.items}
            result.findings.extend(finding for page in pages for finding in page.unreadable)
            if failure is not None and failure.code in _NO_CREDENTIALS:
                refusals.append(failure)
            if failure is not None and _NOT_SOLD in failure.message:
                result.not_sold.append(region)
            elif failure is not None:
                result.findings.append(_finding_of_failure(search, region, failure))
    if len(refusals) == len(search.regions):
        raise refuse_credentials(
            f"no Region accepted them: {refusals[0].message}",
            remedy="Sign in (such as with `aws sso login`), set AWS_PROFILE, or specify --profile or --local",
        )
    inside = (item for item in offered.values() if search.start_after <= item.start <= search.start_before)
    result.offerings.extend(inside)
    return result


def _search_region(
    search: Search, region: str, read: Read, sleep: Callable[[float], None]
) -> tuple[list[Page[Offering]], ReadFailed | None]:
    pages: list[Page[Offering]] = []
    for count in search.counts:
        for hours in search.hours:
            token: str | None = None
            for _ in range(_MOST_PAGES):
                effect = DescribeOfferings(
                    region=region,
                    instance_type=search.instance_type,
                    ultraserver_type=search.ultraserver_type,
                    count=count,
                    hours=hours,
                    start_after=search.start_after,
                    end_by=search.end_by,
                    page=token,
                )
                answer = _read_again(effect, read, sleep)
                if isinstance(answer, ReadFailed):
                    return pages, answer
                pages.append(answer)
                token = answer.next_token
                if not token:  # an empty page with a token is not the end
                    break
    return pages, None


def _read_again(
    effect: DescribeOfferings, read: Read, sleep: Callable[[float], None]
) -> Page[Offering] | ReadFailed:
    answer = read(effect)
    for pause in _PAUSES:
        if not (isinstance(answer, ReadFailed) and answer.transient):
            break
        # botocore has repeated a request without a readable response; only a limit on searches needs the long pauses.
        if pause > _PAUSES[0] and (answer.code.endswith("Error") or answer.code == UNREADABLE_ANSWER):
            break
        sleep(pause)
        answer = read(effect)
    return answer


def _finding_of_failure(search: Search, region: str, failure: ReadFailed) -> Finding:
    if "not authorized" in failure.message and "UltraServer" in failure.message:
        return Finding(
            code="UC7055",
            path=region,
            problem=f"AWS does not offer UltraServers to this account: {failure.message}",
            remedy="No IAM policy changes that: AWS enables accounts for UltraServers. Ask your AWS account team, or search by instance type",
        )
    if not is_zero_quota(failure):
        return Finding(
            code="UC7042",
            path=region,
            problem=f"no answer: {failure.code}: {failure.message}",
            remedy="The list lacks the offerings of this Region; search it again later"
            if failure.transient
            else "",
        )
    # Which quota UltraServers count against is not documented.
    instance_type = INSTANCE_TYPES.get(search.instance_type or "")
    quota = capacity_block_quota(instance_type) if instance_type else None
    remedy = (
        quota.request_command(value=instance_type.vcpus * max(search.counts, default=1), region=region)
        if instance_type and quota
        else "Request the quota for Capacity Blocks of this family in the Service Quotas console"
    )
    what = search.instance_type or search.ultraserver_type
    named = f" (quota {quota.code}, {quota.name})" if quota else ""
    return Finding(
        code="UC7041",
        path=region,
        problem=f"the account has no quota for Capacity Blocks of {what}{named}",
        remedy=f"Request it: {remedy}" if quota else remedy,
    )


RECORDS: Final = (
    RuleRecord(
        "UC7041",
        "The account has a quota for Capacity Blocks.",
        remedy="Run the command in the finding to request the quota; approval takes days.",
        source="EC2 instance types guide, quotas, 2026-10: vCPUs of blocks by family, 0 by default.",
    ),
    RuleRecord(
        "UC7055",
        "An account that searches for UltraServers is one that AWS offers them to.",
        remedy="Ask your AWS account team to enable the account for UltraServers, or search by instance type. No IAM policy changes it.",
        source="Answer of DescribeCapacityBlockOfferings in a field report, 2026-10-03: the account is not authorized to call it when requesting an EC2 UltraServer.",
    ),
    RuleRecord(
        "UC7042",
        "Every Region answers a search.",
        severity=Severity.WARNING,
        remedy="Search the Region again later: its offerings are missing from the list.",
        source="Seen in field reports, 2026: the search has a rate limit with a separate error.",
    ),
)
