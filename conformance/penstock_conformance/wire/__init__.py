"""S3's answers as data, and a runner that judges any S3 endpoint by them.

Nothing here imports the rest of Penstock: the cases come from S3's documentation and recordings, the signatures from botocore.
"""
