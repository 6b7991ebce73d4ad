"""Facts about the machine that times or last digits may depend on; nothing private."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from threadpoolctl import threadpool_info

from isthmus import __version__

__all__ = ["machine_facts"]


def machine_facts() -> dict[str, str]:
    """Return versions, processor kind, cores and threads, without host names or folders."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    threads = sorted({f"{i['internal_api']} {i['num_threads']}" for i in threadpool_info()})
    return {
        "isthmus": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "threads": ", ".join(threads) or "one",
    }
