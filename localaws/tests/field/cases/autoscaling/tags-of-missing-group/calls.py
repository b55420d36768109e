a.create_or_update_tags(
    Tags=[
        {
            "ResourceId": "nope",
            "ResourceType": "auto-scaling-group",
            "Key": "a",
            "Value": "b",
            "PropagateAtLaunch": False,
        }
    ]
)
