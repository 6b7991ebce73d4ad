"""A cluster of two real worker processes, for all tests of a module."""

import warnings

import pytest


@pytest.fixture(scope="module")
def cluster():
    """A client of two workers with a memory limit each, on the loopback alone."""
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.comm.timeouts.connect": "20s"}
    with warnings.catch_warnings():
        # Sockets that the event loop still holds while a worker dies are its own affair.
        warnings.simplefilter("ignore", ResourceWarning)
        import dask

        with (
            dask.config.set(settings),
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                memory_limit="1GiB",
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=50,
            ) as local,
            distributed.Client(local) as client,
        ):
            yield client


@pytest.fixture
def threads():
    """The threaded scheduler of Dask, whatever client there is."""
    import dask

    with dask.config.set(scheduler="threads"):
        yield
