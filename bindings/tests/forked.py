"""Runs a function in a forked child of the test process."""

from __future__ import annotations

import os
from collections.abc import Callable


def in_child(function: Callable[[], str]) -> str:
    """Calls `function` in a forked child, which ends without running any other code of the test session.

    Returns:
        The function's result, or the type and text of the exception that it raised.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = function()
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        os.write(write_end, result.encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result
