"""Where runs are carried out: in this process, in others of this machine, or on a cluster.

Each is a ``concurrent.futures.Executor``; whatever else is one can stand in for them.
"""

from bench.executors.in_process import InProcess
from bench.executors.opening import opened
from bench.executors.processes import available_jobs, local
from bench.executors.scattering import scatter
from bench.executors.workers import Workers

__all__ = ["InProcess", "Workers", "available_jobs", "local", "opened", "scatter"]
