stacks = client("cloudformation")
stacks.create_stack(StackName="one", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}')
wait("one")
stacks.update_stack(StackName="one")
