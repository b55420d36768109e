client("fsx").create_data_repository_association(
    FileSystemId="fs-0123456789abcdef0", FileSystemPath="/data", DataRepositoryPath="s3://some-bucket"
)
