"""Credentials in templates."""

from ultracluster_checks import Source, check_templates


def test_a_secret_as_text_is_found_and_a_generated_one_is_not() -> None:
    for properties, codes in (
        ({"SecretString": "hub-4711"}, ["UC6409"]),
        ({"SecretString": "PLACEHOLDER"}, []),
        ({"GenerateSecretString": {}}, []),
    ):
        body = {"Resources": {"Token": {"Type": "AWS::SecretsManager::Secret", "Properties": properties}}}
        report = check_templates([Source(name="secret", body=body)])
        assert [problem.finding.code for problem in report.problems] == codes
