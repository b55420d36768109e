c.set_stack_policy(StackName="one", StackPolicyBody=json.dumps({"Statement": [{"Effect": "Permit"}]}))
