"""Exceptions of AWS calls in words."""

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from ultracluster_runtime.functions.responses import AWS_ERRORS, problem_of


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ResponseParserError("<html>"), "unreadable response: ResponseParserError: <html>"),
        (KeyError("jobs"), "unreadable response: KeyError: 'jobs'"),
        (
            ClientError({"Error": {"Code": "No", "Message": "no"}}, "Get"),
            "An error occurred (No) when calling",
        ),
    ],
)
def test_unreadable_responses_are_told_from_refusals(error: Exception, words: str) -> None:
    assert isinstance(error, AWS_ERRORS)
    assert problem_of(error).startswith(words)
