import json

c = client("cloudformation")
topic = json.dumps({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}})
c.create_change_set(StackName="one", ChangeSetName="x", ChangeSetType="CREATE", TemplateBody=topic)
c.get_template_summary(StackName="one")
