r["scalingPolicy"] = {"minScaleDownDelayMinutes": 10}
b.create_compute_environment(computeEnvironmentName="x", type="MANAGED", computeResources=r)
