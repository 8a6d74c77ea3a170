# workers.py - Processes that live for many cases
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runners that use PyTorch call functions in processes that have imported it once.
# A case may kill its process, hang in it or fill its memory: that is the end of
# the process and the outcome of that case alone; the next case gets a fresh one.
# Calls come from the threads of the harness, one process a call.
"""A pool of processes that run functions by name and may die."""

import atexit
import importlib
import os
import pathlib
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from multiprocessing.connection import Connection

from . import harness

START_S = 300  # to import what a process imports once, on a busy machine
MAX_RESIDENT = 2 << 30  # bytes; a larger process is replaced after its case

# What may be imported in a process by name.
PATHS = (harness.CONFORMANCE, harness.REPOSITORY / "test" / "e2e", harness.REPOSITORY / "python")


class Died(Exception):
    """A process ended, or was ended, in a case. `stage` is what the case had reached."""

    def __init__(self, run, stage):
        super().__init__(run.first_error() if run.crashed else run.describe_end())
        self.run, self.stage = run, stage

    def result(self):
        """The outcome of the case."""
        return harness.failed(harness.TIMEOUT if self.run.timed_out else harness.CRASHED, str(self))


# --- in the process ----------------------------------------------------------

_connection = None


def stage(name):
    """Tells what the case has reached, should it not come back."""
    if _connection is not None:
        _connection.send(("stage", name))


def serve(descriptor, *first):
    """Answers calls until the other side is gone. first: modules to import before, or `module:function` to call."""
    global _connection
    for name in first:
        module, _, function = name.partition(":")
        module = importlib.import_module(module)
        if function:
            getattr(module, function)()
    _connection = Connection(descriptor)
    _connection.send(("ready",))
    while True:
        try:
            function, arguments = _connection.recv()
        except EOFError:
            return
        try:
            module, _, name = function.rpartition(".")
            answer = ("value", getattr(importlib.import_module(module), name)(*arguments), resident())
            pickle.dumps(answer[1])
        except harness.UsageError as error:
            answer = ("usage", str(error), resident())
        except BaseException as error:  # noqa: BLE001 - raised again on the other side
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{pathlib.Path(place.filename).name}:{place.lineno}"
            answer = ("raised", f"{type(error).__name__}: {error} ({where})", resident())
        try:
            _connection.send(answer)
        except BrokenPipeError:
            return


def resident():
    """Bytes of memory that this process holds."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


# --- on the other side ---------------------------------------------------------


class Worker:
    """One process with the file that it writes its messages to."""

    def __init__(self, folder, environment, first=()):
        ours, theirs = socket.socketpair()
        with theirs:
            self.log = tempfile.NamedTemporaryFile(dir=folder, suffix=".log")
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"from lib import workers; workers.serve{(theirs.fileno(), *first)}"],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=environment,
            )
        self.connection = Connection(ours.detach())
        self.resident = 0
        self.wait("starting", START_S)

    def call(self, function, arguments, timeout):
        self.log.seek(0, os.SEEK_END)
        start = self.log.tell()
        try:
            self.connection.send((function, arguments))
        except OSError:
            raise Died(self.end(start), "starting") from None
        return self.wait("starting", timeout, start)

    def wait(self, reached, timeout, start=0):
        """The answer of the process; Died if there is none."""
        end = time.monotonic() + timeout
        while True:
            try:
                if not self.connection.poll(max(end - time.monotonic(), 0)):
                    raise Died(self.end(start, timed_out=True), reached)
                kind, *content = self.connection.recv()
            except (EOFError, OSError):
                raise Died(self.end(start), reached) from None
            if kind == "stage":
                reached = content[0]
            elif kind == "ready":
                return None
            else:
                value, self.resident = content
                if kind == "usage":
                    raise harness.UsageError(value)
                if kind == "raised":
                    raise RuntimeError(value)
                return value

    def end(self, start=0, timed_out=False):
        """Ends the process group; its last words as a Run."""
        if timed_out:
            self.kill()
        try:
            code = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self.process.wait()
        self.kill()
        self.connection.close()
        self.log.seek(start)
        err = harness.decode(self.log.read())
        self.log.close()
        # A process that goes away in a case has crashed, whatever its exit code is.
        return harness.Run(["worker"], code if code < 0 else max(code, 126), "", err, timed_out)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Workers:
    """As many processes as there are calls at a time."""

    def __init__(self, build, package=None, first=()):
        self.first = first
        self.folder = tempfile.mkdtemp(prefix="conformance-workers-")
        paths = [*([package] if package else []), *PATHS, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "SPYRE_BUILD": str(pathlib.Path(build).resolve()),
            "TMPDIR": self.folder,
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
        }
        self.idle, self.all, self.lock = [], set(), threading.Lock()
        atexit.register(self.close)

    def call(self, function, *arguments, timeout=None):
        """`module.function` of the arguments, in a process; raises Died if that does not survive it."""
        with self.lock:
            worker = self.idle.pop() if self.idle else None
        if worker is None:
            try:
                worker = Worker(self.folder, self.environment, self.first)
            except Died as died:
                raise harness.UsageError(f"no worker process: {died}") from died
            with self.lock:
                self.all.add(worker)
        try:
            value = worker.call(function, arguments, timeout)
        except Died:
            self.forget(worker)
            raise
        except (RuntimeError, harness.UsageError):
            self.keep(worker)
            raise
        self.keep(worker)
        return value

    def keep(self, worker):
        if worker.resident > MAX_RESIDENT:
            self.forget(worker)
            worker.end(timed_out=True)
        else:
            with self.lock:
                self.idle.append(worker)

    def forget(self, worker):
        with self.lock:
            self.all.discard(worker)

    def close(self):
        with self.lock:
            left, self.all, self.idle = list(self.all), set(), []
        for worker in left:
            worker.end(timed_out=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.close)
