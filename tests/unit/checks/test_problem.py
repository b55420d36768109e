"""Findings: where a problem is, and text of a template that must not be repeated as it is."""

from ultracluster_checks import Source, check_templates
from ultracluster_checks.model.template import Templates
from ultracluster_checks.problem import Problem, finding_of

BUCKET = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete", "UpdateReplacePolicy": "Retain"}


def test_a_finding_has_its_place() -> None:
    lines = {("Resources", "Bucket"): 7, ("Resources", "Bucket", "DeletionPolicy"): 9}
    (first, *_) = check_templates(
        [Source(name="it.yaml", body={"Resources": {"Bucket": BUCKET}}, lines=lines)]
    ).findings

    assert (
        str(first)
        == "UC5201: it.yaml:9: Bucket.DeletionPolicy: objects are lost when the stack is deleted. Allowed: Retain."
    )


def test_names_of_a_template_cannot_hide_in_a_finding() -> None:
    report = check_templates([Source(name="it", body={"Resources": {"B\x1b[2J\u202e": BUCKET}})])

    assert all(str(finding).isascii() and str(finding).isprintable() for finding in report.findings)


def test_a_credential_is_not_repeated() -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    queue = {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Environment": {"Variables": {"A": key, key: "x"}}},
    }
    report = check_templates([Source(name="it.yaml", body={"Resources": {"Function": queue}})])

    assert "UC6409" in {finding.code for finding in report.findings}
    assert key not in "".join(map(str, report.findings))


def test_credentials_in_the_text_of_a_problem_are_hidden() -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    (template,) = Templates([Source(name="it.yaml", body={"Resources": {"Bucket": BUCKET}})]).all
    place = template.resources["Bucket"].properties
    finding = finding_of(Problem.of(place, "UC5201", f"got {key}", f"not {key}"))

    assert finding.problem.startswith("got ")
    assert key not in str(finding)
