import json

c = client("cloudformation")
t = {"Parameters": {"P": {"Type": "Number", "MaxValue": 4}}, "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
c.create_stack(
    StackName="s", TemplateBody=json.dumps(t), Parameters=[{"ParameterKey": "P", "ParameterValue": "5"}]
)
