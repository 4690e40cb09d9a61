"""S3's responses as data, and a runner that compares the responses of any S3 endpoint with them.

The cases come from S3's documentation and from recordings; botocore computes the signatures. No module here imports `penstock`.
"""
