"""S3's answers as data, and a runner that judges any S3 endpoint by them.

`python -m conformance --endpoint URL --access-key ID --secret-key SECRET` runs the cases of `conformance/cases`.
Nothing here imports Penstock: the cases come from S3's documentation and recordings, the signatures from botocore.
"""
