"""Advice on a cluster from its recorded metrics: what is paid and not used, with the evidence and what it costs a month."""

from ultracluster_runtime.advice.report import Report, advise
from ultracluster_runtime.advice.subject import Advice, SkippedRule, Subject

__all__ = ["Advice", "Report", "SkippedRule", "Subject", "advise"]
