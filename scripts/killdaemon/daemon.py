"""One kvsd process."""

import subprocess
import time

LIMITS = ("--segment-bytes", "262144", "--requests-per-second", "1000000",
          "--streams-per-device", "5000", "--connections", "6000")


class Violation(Exception):
    """Something that the store promises did not hold."""


class Daemon:
    def __init__(self, program, work):
        self.port_file, self.log = work / "port", work / "kvsd.log"
        self.port_file.unlink(missing_ok=True)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "serve", "--data", work / "data", "--listen", "127.0.0.1:0",
                 "--port-file", self.port_file, *LIMITS],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_for_port(self, seconds=30):
        deadline = time.monotonic() + seconds
        while not self.port_file.exists():
            if not self.is_running:
                raise Violation(f"kvsd did not start: {self.last_words}")
            if time.monotonic() > deadline:
                raise Violation(f"kvsd did not listen within {seconds} s: {self.last_words}")
            time.sleep(0.001)
        return int(self.port_file.read_text())

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def last_words(self):
        log = self.log.read_text(errors="replace").strip()
        return f"exit status {self.process.poll()}, {log[-500:]}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(15)
        except subprocess.TimeoutExpired:
            status = None
        if status != 0:
            self.kill()
            raise Violation(f"SIGTERM did not stop kvsd cleanly: {self.last_words}")
