import json

r = client("ecr")
r.create_repository(repositoryName="images")
count = {"countType": "imageCountMoreThan", "countNumber": 3}
rules = [
    {"rulePriority": n, "selection": count | {"tagStatus": "untagged"}, "action": {"type": "expire"}}
    for n in (1, 2)
]
r.put_lifecycle_policy(repositoryName="images", lifecyclePolicyText=json.dumps({"rules": rules}))
