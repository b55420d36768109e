"""The report over all rules of advice."""

from dataclasses import replace

from tests.unit.runtime.advice.advice_recordings import SUBJECT, of_job, reporting
from tests.unit.runtime.metrics.recordings import day, recording, series

from ultracluster_catalog.lustre.lustre import LustreSettings
from ultracluster_runtime.advice import advise
from ultracluster_runtime.advice.rules import RULES


def test_a_normal_day_leads_to_no_advice() -> None:
    report = advise(
        day(),
        replace(
            SUBJECT, file_system=LustreSettings(storage_capacity_gib=4800, per_unit_storage_throughput=250)
        ),
    )
    assert [each.rule for each in report.advice] == []
    assert report.skipped_rules == ()
    assert report.hours == 24


def test_empty_recording_skips_all_rules() -> None:
    report = advise(recording(), SUBJECT)
    assert report.advice == ()
    assert len(report.skipped_rules) == len(RULES)
    assert all(each.reason for each in report.skipped_rules)


def test_the_largest_saving_comes_first_and_the_unknown_last() -> None:
    report = advise(
        recording(
            series("TcpFallback", "Maximum", [1.0]),
            series("PaidNodes", "Average", [4.0]),
            series("UnusedNodes", "Average", [1.0]),
            of_job("CompileSeconds", "Sum", 3600),
            reporting(),
            hours=1,
        ),
        SUBJECT,
    )
    assert [each.rule for each in report.advice] == ["compilations", "unused-nodes", "tcp-fallback"]
