containers = [{"name": "c", "image": "busybox", "essential": True, "memory": 128}]
t = client("ecs")
t.create_cluster(clusterName="k")
t.register_task_definition(family="f", requiresCompatibilities=["EC2"], containerDefinitions=containers)
t.run_task(cluster="k", taskDefinition="f", launchType="FARGATE")
