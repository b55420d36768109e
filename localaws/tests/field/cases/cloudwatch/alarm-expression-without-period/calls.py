client("cloudwatch").put_metric_alarm(
    AlarmName="a",
    ComparisonOperator="GreaterThanThreshold",
    EvaluationPeriods=1,
    Threshold=1,
    Metrics=[
        {
            "Id": "expr_1",
            "Expression": "INSIGHT_RULE_METRIC('rule', 'UniqueContributors')",
            "ReturnData": True,
        }
    ],
)
