import pytest

from ultracluster_spec.findings import Finding, FindingsError, quote


def test_a_finding_is_one_line_with_code_place_problem_allowed_and_remedy() -> None:
    finding = Finding(
        code="UC4001",
        problem="got 'x'",
        allowed="trn2.48xlarge",
        remedy="Choose one.",
        path="waves[0].clusters[0].instance_type",
        location="rollout.yaml:12",
    )
    assert str(finding) == (
        "UC4001: rollout.yaml:12: waves[0].clusters[0].instance_type: got 'x'. Allowed: trn2.48xlarge. Choose one."
    )


def test_a_finding_shows_only_the_parts_that_it_has() -> None:
    assert str(Finding(code="UC4001", problem="got 'x'")) == "UC4001: got 'x'."


def test_an_error_shows_one_line_for_each_finding_in_order() -> None:
    findings = [Finding(code="UC4002", problem="second"), Finding(code="UC4001", problem="first")]
    error = FindingsError(iter(findings))
    assert error.findings == tuple(findings)
    assert str(error).splitlines() == ["UC4002: second.", "UC4001: first."]
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain", "'plain'"),
        (4, "4"),
        ("p\u0430y", r"'p\u0430y'"),
        ("\u202eevil", r"'\u202eevil'"),
        ("a\nb", r"'a\nb'"),
        ("x" * 74, "'" + "x" * 74 + "'"),
        ("x" * 75, "'" + "x" * 72 + "..."),
    ],
)
def test_quotes_a_value_in_ascii_and_at_most_76_characters(value: object, shown: str) -> None:
    assert quote(value) == shown
    assert len(quote(value)) <= 76
    assert quote(value).isascii()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_finding_is_one_line_whatever_it_quotes(end: str) -> None:
    finding = Finding("UC1001", f"the file says{end}this", allowed=f"one{end}two", remedy=f"Remove{end}it")

    assert str(finding.at(f"a{end}b")) == "UC1001: a b: the file says this. Allowed: one two. Remove it."


def test_what_controls_a_terminal_is_escaped_in_a_finding() -> None:
    assert str(Finding("UC1001", "a\x1b[2Jb\rc\td")) == r"UC1001: a\x1b[2Jb\rc" + "\td."
