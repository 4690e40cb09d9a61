"""What an S3 client may, must and must not ask again: the table, and the verbs that it is about."""
