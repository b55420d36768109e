r["launchTemplate"] = {"launchTemplateName": "l", "launchTemplateId": "lt-0123456789abcdef0"}
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
