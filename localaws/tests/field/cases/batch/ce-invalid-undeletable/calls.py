import json

r = client("iam").create_role(
    RoleName="r",
    AssumeRolePolicyDocument=json.dumps(
        {
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
            ]
        }
    ),
)["Role"]["Arn"]
b = client("batch")
b.create_compute_environment(computeEnvironmentName="x", type="UNMANAGED", serviceRole=r)
b.update_compute_environment(computeEnvironment="x", state="DISABLED")
found = b.describe_compute_environments(computeEnvironments=["x"])["computeEnvironments"][0]
assert (found["state"], found["status"]) == ("DISABLED", "INVALID"), found
assert "batch.amazonaws.com is not authorized to perform: sts:AssumeRole" in found["statusReason"], found
