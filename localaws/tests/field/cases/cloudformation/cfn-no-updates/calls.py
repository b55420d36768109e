c = client("cloudformation")
b = '{"Resources":{"A":{"Type":"AWS::SNS::Topic"}}}'
c.create_stack(StackName="same", TemplateBody=b)
wait("same")
c.update_stack(StackName="same", TemplateBody=b)
