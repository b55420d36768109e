client("fsx").create_file_system(
    FileSystemType="LUSTRE",
    StorageCapacity=1200,
    SubnetIds=["subnet-0123456789abcdef0"],
    LustreConfiguration={"DeploymentType": "SCRATCH_2"},
)
