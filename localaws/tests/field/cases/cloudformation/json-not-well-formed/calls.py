client("cloudformation").create_stack(StackName="one", TemplateBody='{"Resources": {"A": {"Type"')
