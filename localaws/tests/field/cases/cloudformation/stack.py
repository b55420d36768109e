import json

c = client("cloudformation")
topic = json.dumps({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}})
c.create_stack(StackName="one", TemplateBody=topic)
wait("one")
