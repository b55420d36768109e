containers = [{"name": "c", "image": "busybox", "essential": True}]
t = client("ecs")
t.register_task_definition(
    family="f",
    networkMode="bridge",
    requiresCompatibilities=["FARGATE"],
    cpu="256",
    memory="512",
    containerDefinitions=containers,
)
