import json

t = {"Parameters": {"Image": {"Type": "String"}}, "Resources": {"A": {"Type": "AWS::SNS::Topic"}}}
client("cloudformation").create_stack(StackName="s", TemplateBody=json.dumps(t))
