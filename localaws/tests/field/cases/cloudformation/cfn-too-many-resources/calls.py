import json

c = client("cloudformation")
t = {"Resources": {f"A{number}": {"Type": "AWS::SNS::Topic"} for number in range(501)}}
c.create_stack(StackName="s", TemplateBody=json.dumps(t))
