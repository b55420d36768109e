client("iam").delete_policy(PolicyArn="arn:aws:iam::123456789012:policy/non-existent-policy")
