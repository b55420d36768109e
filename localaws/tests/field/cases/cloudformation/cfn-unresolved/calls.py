import json

c = client("cloudformation")
t = {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": {"Ref": "B"}}}}}
c.create_stack(StackName="s", TemplateBody=json.dumps(t))
