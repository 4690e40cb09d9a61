"""The modules that penstock.compat replaces, and the Penstock modules and names that replace them."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path
from types import ModuleType

from ..datapipes._versions import torchdata_version

REFERENCE_VERSION = "1.5.0"
TRACE = 5  # below DEBUG

# The packages that are replaced, with what the errors call them, and their roots.
PACKAGES = {
    "s3torchconnector": (f"s3torchconnector {REFERENCE_VERSION}", ("s3torchconnector", "s3torchconnectorclient")),
    "awsio": ("the Amazon S3 plugin for PyTorch", ("awsio", "_pywrap_s3_io")),
    "torchdata": ("the S3 DataPipes of torchdata", ("torchdata",)),
}

_DATAPIPES: dict[str, str | dict[str, str]] = {
    "torchdata._torchdata": {"S3Handler": "penstock.datapipes._handler:S3Handler"},
    "torchdata.datapipes.iter.load.s3io": "penstock.compat._torchdata",
}
if (_version := torchdata_version()) is None or _version >= (0, 10):  # the installed torchdata has no DataPipes
    if _version is None:
        _DATAPIPES["torchdata"] = {}
    _DATAPIPES |= {
        "torchdata.datapipes": {"functional_datapipe": "torch.utils.data.datapipes._decorator:functional_datapipe"},
        "torchdata.datapipes.iter": "penstock.compat._datapipes",
        "torchdata.datapipes.iter.load": {},
        "torchdata.datapipes.utils": {"StreamWrapper": "torch.utils.data.datapipes.utils.common:StreamWrapper"},
    }

# Each module is replaced by a Penstock module, or by a module made of names from Penstock modules.
MODULES: dict[str, str | dict[str, str]] = {
    "s3torchconnector": {
        name: f"penstock:{name}"
        for name in (
            "S3Checkpoint", "S3ClientConfig", "S3Exception", "S3IterableDataset", "S3MapDataset", "S3Reader",
            "S3ReaderConstructor", "S3Writer",
        )
    }
    | {"__version__": f"{__name__}:REFERENCE_VERSION"},
    "s3torchconnector._s3_bucket_iterable": "penstock.compat._listing",
    "s3torchconnector._s3bucket_key_data": {"S3BucketKeyData": "penstock._objects:S3BucketKeyData"},
    "s3torchconnector._s3client": {
        "MockS3Client": "penstock.compat._mock:MockS3Client",
        "S3Client": "penstock._client:S3Client",
        "S3ClientConfig": "penstock._config:S3ClientConfig",
    },
    "s3torchconnector._s3client._mock_s3client": "penstock.compat._mock",
    "s3torchconnector._s3client._s3client": "penstock.compat._clients",
    "s3torchconnector._s3client.s3client_config": "penstock._config",
    "s3torchconnector._s3dataset_common": "penstock._listing",
    "s3torchconnector._user_agent": "penstock._user_agent",
    "s3torchconnector._version": {"__version__": f"{__name__}:REFERENCE_VERSION"},
    "s3torchconnector.dcp": "penstock.dcp",
    "s3torchconnector.dcp.s3_file_system": "penstock.dcp.s3_file_system",
    "s3torchconnector.dcp.s3_prefix_strategy": "penstock.dcp.s3_prefix_strategy",
    "s3torchconnector.lightning": "penstock.lightning",
    "s3torchconnector.lightning.s3_lightning_checkpoint": {"S3LightningCheckpoint": "penstock.lightning:S3LightningCheckpoint"},
    "s3torchconnector.s3checkpoint": "penstock._checkpoint",
    "s3torchconnector.s3iterable_dataset": "penstock._iterable_dataset",
    "s3torchconnector.s3map_dataset": "penstock._map_dataset",
    "s3torchconnector.s3reader": "penstock.s3reader",
    "s3torchconnector.s3reader.constructor": "penstock.s3reader.constructor",
    "s3torchconnector.s3reader.dcp_optimized": "penstock.s3reader.dcp_optimized",
    "s3torchconnector.s3reader.protocol": "penstock.s3reader.protocol",
    "s3torchconnector.s3reader.ranged": "penstock.s3reader.ranged",
    "s3torchconnector.s3reader.s3reader": {"S3Reader": "penstock.s3reader:S3Reader"},
    "s3torchconnector.s3reader.sequential": "penstock.s3reader.sequential",
    "s3torchconnector.s3writer": "penstock._writer",
    "s3torchconnectorclient": {
        "LOG_TRACE": f"{__name__}:TRACE",
        "S3Exception": "penstock:S3Exception",
        "__version__": f"{__name__}:REFERENCE_VERSION",
    },
    "s3torchconnectorclient._logger_patch": {
        "TRACE": f"{__name__}:TRACE",
        "_install_trace_logging": f"{__name__}:_install_trace_logging",
    },
    "s3torchconnectorclient._mountpoint_s3_client": "penstock.compat._native",
    "_pywrap_s3_io": {"S3Init": "penstock.compat._awsio:S3Init"},
    "awsio": {},
    "awsio.python": {},
    "awsio.python.lib": {},
    "awsio.python.lib.io": {},
    "awsio.python.lib.io.s3": {},
    "awsio.python.lib.io.s3.s3dataset": "penstock.compat._awsio",
    **_DATAPIPES,
}  # fmt: skip


def _install_trace_logging() -> None:
    logging.addLevelName(TRACE, "TRACE")


def load(module: ModuleType) -> ModuleType:
    """Returns the replacement of `module`, an empty module: a Penstock module, or `module` filled with names from Penstock."""
    origin = MODULES[module.__name__]
    if isinstance(origin, str):
        return importlib.import_module(origin)
    if module.__name__ == "s3torchconnectorclient":
        _install_trace_logging()
    module.__doc__ = f"Penstock's replacement of {module.__name__} (penstock.compat)."
    module.__file__ = str(Path(__file__).with_name("__init__.py"))
    module.__dict__["__all__"] = sorted(origin)
    for name, place in origin.items():
        where, _, attribute = place.partition(":")
        module.__dict__[name] = getattr(importlib.import_module(where), attribute)
    return module
