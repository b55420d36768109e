stack = c.describe_stacks(StackName="one")["Stacks"][0]["StackId"]
c.delete_stack(StackName="one")
c.create_change_set(StackName=stack, ChangeSetName="x", ChangeSetType="UPDATE", TemplateBody=topic)
