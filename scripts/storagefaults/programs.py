"""The real programs on a machine of their own, and the faults that are put under them."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class NotRun(Exception):
    """This machine does not allow what the case needs."""


class Fault:
    """One file call that goes wrong; see faulty-calls.c."""

    def __init__(self, action="", at=0, calls="", count=1, number=0, switch=None):
        self.action, self.at, self.calls = action, at, calls
        self.count, self.number, self.switch = count, number, switch

    def environment(self, folder, log):
        return {
            "FAULT_FOLDER": str(folder), "FAULT_CALLS": self.calls, "FAULT_AT": str(self.at),
            "FAULT_COUNT": str(self.count), "FAULT_ACTION": self.action,
            "FAULT_NUMBER": str(self.number), "FAULT_SWITCH": str(self.switch or ""),
            "FAULT_LOG": str(log),
        }


class Call:
    """A line of the log of calls; times are seconds of the monotonic clock."""

    def __init__(self, line):
        number, self.name, byte_count, start, end, faulty, self.path = line.split(None, 6)
        self.number, self.byte_count = int(number), int(byte_count)
        self.start, self.end, self.is_faulty = int(start) / 1e9, int(end) / 1e9, faulty == "1"


def calls(log):
    return [Call(line) for line in log.read_text().splitlines()] if log.exists() else []


class Programs:
    """Where the programs are, and a folder for everything that they leave."""

    def __init__(self, binaries, work):
        self.binaries, self.work = Path(binaries), Path(work)
        self.running = []
        self.shim = self.build_shim()

    def build_shim(self):
        target = self.work / "faulty-calls.so"
        for compiler in ("clang", "cc", "gcc"):
            if shutil.which(compiler):
                command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(target),
                           str(HERE / "faulty-calls.c"), "-ldl"]
                subprocess.run(command, check=True)
                return target
        return None

    def faulty(self, fault, folder, log):
        """The environment that puts `fault` under a program."""
        if self.shim is None:
            raise NotRun("there is no C compiler")
        Path(folder).mkdir(parents=True, exist_ok=True)
        return {"LD_PRELOAD": str(self.shim), **fault.environment(folder, log)}

    def run(self, name, *arguments, home=None, extra=None, prefix=(), timeout=60):
        environment = {
            "HOME": str(home or self.work), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            **(extra or {})}
        return subprocess.run(
            [*prefix, str(self.binaries / name), *map(str, arguments)], env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)

    def new_data(self, name, token_count=1):
        """A new data folder and the tokens of its devices."""
        data = self.work / name
        tokens = []
        for index in range(token_count):
            done = self.run("kvsd", "device", "add", f"device-{index}", "--data", data)
            words = done.stdout.decode().split()
            tokens.append(next(word for word in words if word.startswith("ubq_")))
        return data, tokens

    def check(self, data):
        return self.run("kvsd", "check", "--data", data)

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()


class Daemon:
    """A kvsd process. `port` is None when it ended before it listened."""

    def __init__(self, programs, data, fault=None, prefix=(), extra=(), port=0, open_files=None,
                 segment_bytes=4_096, start_seconds=30):
        self.programs, self.data = programs, data
        stem = programs.work / f"daemon-{time.monotonic_ns()}"
        self.log, self.call_log = stem.with_suffix(".err"), stem.with_suffix(".calls")
        self.port_file = stem.with_suffix(".port")
        environment = {"HOME": str(programs.work), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        if fault:
            environment |= programs.faulty(fault, data, self.call_log)

        def limit():
            if open_files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

        with open(self.log, "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, str(programs.binaries / "kvsd"), "serve", "--data", str(data),
                 "--listen", f"127.0.0.1:{port}", "--port-file", str(self.port_file),
                 "--segment-bytes", str(segment_bytes), *map(str, extra)],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors, preexec_fn=limit if open_files else None)
        programs.running.append(self.process)
        self.port = self.wait_for_port(start_seconds)

    def wait_for_port(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.port_file.exists() and self.port_file.read_text().endswith("\n"):
                return int(self.port_file.read_text())
            if self.process.poll() is not None:
                return None
            time.sleep(0.005)
        self.kill()
        return None

    @property
    def words(self):
        return self.log.read_text(errors="replace").strip()

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def was_killed(self):
        return self.process.poll() == -signal.SIGKILL

    @property
    def calls(self):
        return calls(self.call_log)

    def wait_if_dying(self, seconds=5):
        """For after a connection broke: whether the process has ended."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        return not self.is_running

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """The exit status of a daemon that is asked to end; None if it does not."""
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Machine:
    """A home with a replica, on which kvs is run."""

    def __init__(self, programs, home):
        self.programs, self.home = programs, Path(home)
        self.home.mkdir(parents=True, exist_ok=True)

    @property
    def data(self):
        return self.home / "data"

    def kvs(self, *arguments, fault=None, log=None, prefix=()):
        extra = {"UBIQUITY_DATA_DIR": str(self.data)}
        if fault:
            extra |= self.programs.faulty(fault, self.data, log)
        return self.programs.run("kvs", *arguments, home=self.home, extra=extra, prefix=prefix)

    def join(self, port, token):
        done = self.kvs("join", f"http://127.0.0.1:{port}", "--token", token)
        assert done.returncode == 0, done.stderr

    def values(self):
        """{key: value} or None, and the words on standard error."""
        done = self.kvs("export", "--no-sync")
        words = done.stderr.decode(errors="replace")
        if done.returncode != 0:
            return None, words
        entries = json.loads(done.stdout)["values"]
        return {entry["key"]: entry.get("value") for entry in entries}, words
