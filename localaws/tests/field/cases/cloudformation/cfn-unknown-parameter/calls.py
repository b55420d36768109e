import json

c = client("cloudformation")
t = {"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
c.create_stack(
    StackName="s", TemplateBody=json.dumps(t), Parameters=[{"ParameterKey": "Q", "ParameterValue": "5"}]
)
