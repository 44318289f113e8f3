"""The real programs on a machine of their own, and the faults that are put under them."""

import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import tempfile
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


def copy_directory(source, target):
    """Copies everything but the sockets; the target may exist."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))


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

    def environment(self, home=None, extra=None):
        return {"HOME": str(home or self.work), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                **(extra or {})}

    def run(self, name, *arguments, home=None, extra=None, timeout=60):
        return subprocess.run(
            [str(self.binaries / name), *map(str, arguments)],
            env=self.environment(home, extra), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=timeout)

    def start(self, command, **options):
        process = subprocess.Popen(command, **options)
        self.running.append(process)
        return process

    def new_data(self, name, token_count=1):
        """A new data folder and the tokens of its devices."""
        data = self.work / name
        tokens = []
        for index in range(token_count):
            done = self.run("kvsd", "device", "add", f"device-{index}", "--data", data)
            words = done.stdout.decode().split()
            tokens.append(next(word for word in words if word.startswith("ubq_")))
        return data, tokens

    def keep(self, directory):
        """Copies what a failure left to where it outlives this run."""
        kept = Path(tempfile.mkdtemp(prefix="storage-faults-kept-"))
        copy_directory(directory, kept)
        return kept

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
        extra_environment = programs.faulty(fault, data, self.call_log) if fault else None

        def limit():
            if open_files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

        with open(self.log, "wb") as errors:
            self.process = programs.start(
                [*prefix, str(programs.binaries / "kvsd"), "serve", "--data", str(data),
                 "--listen", f"127.0.0.1:{port}", "--port-file", str(self.port_file),
                 "--set", f"segment-bytes={segment_bytes}", *map(str, extra)],
                env=programs.environment(extra=extra_environment), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors,
                preexec_fn=limit if open_files else None)
        self.port = self.wait_for_port(start_seconds)

    def wait_for_port(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.port_file.exists() and self.port_file.read_text().endswith("\n"):
                return int(self.port_file.read_text())
            if self.process.poll() is not None:
                return None
            time.sleep(0.002)
        self.kill()
        return None

    @property
    def words(self):
        return self.log.read_text(errors="replace").strip()

    @property
    def last_words(self):
        return f"exit status {self.process.poll()}, {self.words[-500:]}"

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
    """A home with a replica, on which client programs are run."""

    def __init__(self, programs, home):
        self.programs, self.home = programs, Path(home)
        self.home.mkdir(parents=True, exist_ok=True)

    @property
    def data(self):
        return self.home / "data"

    def extra(self, fault, log):
        faulty = self.programs.faulty(fault, self.data, log) if fault else {}
        return {"UBIQUITY_DATA_DIR": str(self.data), **faulty}

    def run(self, name, *arguments, fault=None, log=os.devnull):
        return self.programs.run(name, *arguments, home=self.home, extra=self.extra(fault, log))

    def kvs(self, *arguments, **options):
        return self.run("kvs", *arguments, **options)

    def start(self, name, *arguments, fault=None):
        """A program that goes on, at a terminal of its own."""
        terminal, program_side = pty.openpty()
        with open(program_side, "wb", buffering=0) as end:
            process = self.programs.start(
                [str(self.programs.binaries / name), *arguments], stdin=end, stdout=end,
                stderr=end, env=self.programs.environment(self.home, self.extra(fault, os.devnull)))
        process.terminal = open(terminal, "rb", buffering=0)  # closed with the process object
        return process

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
