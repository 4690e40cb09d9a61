"""S3 in PyTorch's data pipelines: DataPipes (``penstock.datapipes.iter``) and torchdata's nodes (``penstock.datapipes.nodes``).

Both read the objects of a pipeline before they are needed, through the prefetcher of Penstock's datasets. Importing this package
imports neither torch nor torchdata.
"""
