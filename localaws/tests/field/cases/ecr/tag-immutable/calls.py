import json

r = client("ecr")
r.create_repository(repositoryName="images", imageTagMutability="IMMUTABLE")
for size in (1, 2):
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"digest": f"sha256:{size:064x}", "size": size},
        "layers": [],
    }
    r.put_image(repositoryName="images", imageManifest=json.dumps(manifest), imageTag="v1")
