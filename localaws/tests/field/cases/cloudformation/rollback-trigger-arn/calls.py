import json

c = client("cloudformation")
c.create_stack(StackName="one", TemplateBody=json.dumps({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}))
wait("one")
trigger = {"Arn": "arn:aws:cloudwatch:us-east-1:123456789012:a", "Type": "AWS::CloudWatch::Alarm"}
c.update_stack(
    StackName="one",
    UsePreviousTemplate=True,
    RollbackConfiguration={"RollbackTriggers": [trigger]},
)
