"""Advice on a cluster from its recorded metrics: capacity that is paid for and not used, with evidence and monthly cost."""

from ultracluster_runtime.advice.report import Report, advise
from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject

__all__ = ["Advice", "Report", "SkippedRule", "Subject", "advise"]
