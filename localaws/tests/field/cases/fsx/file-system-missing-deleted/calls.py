client("fsx").delete_file_system(FileSystemId="fs-0123456789abcdef0")
