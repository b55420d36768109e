v = client("events")
bus = v.describe_event_bus()["Arn"]
for _ in range(2):
    v.create_archive(ArchiveName="kept", EventSourceArn=bus)
