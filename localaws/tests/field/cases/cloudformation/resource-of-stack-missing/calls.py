stacks = client("cloudformation")
stacks.create_stack(StackName="one", TemplateBody='{"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}')
wait("one")
stacks.describe_stack_resource(StackName="one", LogicalResourceId="NonExistentResource")
