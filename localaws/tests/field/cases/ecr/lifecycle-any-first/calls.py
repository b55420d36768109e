import json

r = client("ecr")
r.create_repository(repositoryName="images")
count = {"countType": "imageCountMoreThan", "countNumber": 3}
rules = [
    {"rulePriority": 1, "selection": count | {"tagStatus": "any"}, "action": {"type": "expire"}},
    {"rulePriority": 2, "selection": count | {"tagStatus": "untagged"}, "action": {"type": "expire"}},
]
r.put_lifecycle_policy(repositoryName="images", lifecyclePolicyText=json.dumps({"rules": rules}))
