containers = [{"name": "c", "image": "busybox", "essential": True}]
t = client("ecs")
t.register_task_definition(
    family="f",
    networkMode="awsvpc",
    requiresCompatibilities=["FARGATE"],
    cpu="256",
    memory="8192",
    containerDefinitions=containers,
)
