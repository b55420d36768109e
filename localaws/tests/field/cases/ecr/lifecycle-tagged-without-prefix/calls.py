import json

r = client("ecr")
r.create_repository(repositoryName="images")
count = {"countType": "imageCountMoreThan", "countNumber": 3}
selection = count | {"tagStatus": "tagged"}
rules = [{"rulePriority": 1, "selection": selection, "action": {"type": "expire"}}]
r.put_lifecycle_policy(repositoryName="images", lifecyclePolicyText=json.dumps({"rules": rules}))
