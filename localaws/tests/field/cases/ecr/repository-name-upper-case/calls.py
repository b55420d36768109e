client("ecr").create_repository(repositoryName="Images")
