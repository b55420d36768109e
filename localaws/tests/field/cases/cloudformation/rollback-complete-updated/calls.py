import json

c = client("cloudformation")
topic = json.dumps({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}})
bad = {"Resources": {"A": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "a b"}}}}
c.create_stack(StackName="one", TemplateBody=json.dumps(bad))
c.update_stack(StackName="one", TemplateBody=topic)
