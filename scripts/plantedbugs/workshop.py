"""A folder with a copy of the store and its simulator, into which bugs are planted."""

import contextlib
import json
import signal
import subprocess
import time
from dataclasses import dataclass

# Files are optimized one by one, so that a planted bug has only its own files compiled anew.
BUILD = ("swift", "build", "-c", "release", "--product", "simulate",
         "-Xswiftc", "-no-whole-module-optimization")

class BuildFailure(Exception):
    pass


class TextNotFound(Exception):
    pass


@dataclass
class Outcome:
    promise: str = ""
    seed: int = 0
    seed_count: int = 0
    seconds: float = 0


class Workshop:
    def __init__(self, folder, root, jobs):
        self.folder = folder
        self.jobs = jobs
        self.sources = folder / "Sources"
        names = subprocess.run(
            ["git", "ls-files", "Package.swift", "Sources", "Tests", "Benchmarks"], cwd=root,
            check=True, capture_output=True, text=True).stdout.splitlines()
        for name in names:
            content = (root / name).read_bytes()
            if name == "Package.swift":
                # A planted bug may leave something unused.
                content = content.replace(b".treatAllWarnings(as: .error),", b"")
            write(folder / name, content)
        for directory in ("Sources", "Tests"):
            for file in [file for file in (folder / directory).rglob("*") if file.is_file()]:
                if str(file.relative_to(folder)) not in names:
                    file.unlink()

    def missing_texts(self, bug):
        """What a bug would replace and cannot, in words."""
        for edit in bug.edits:
            file = self.sources / edit.file
            count = file.read_text().count(edit.old) if file.exists() else 0
            if count != 1:
                yield (f"{bug.name}: in Sources/{edit.file} this stands {count} times, "
                       f"not once:\n{edit.old}")

    @contextlib.contextmanager
    def planted(self, bug):
        """The simulator with the bug in it, built; the copy is as it was afterwards."""
        for missing in self.missing_texts(bug):
            raise TextNotFound(missing)
        files = {self.sources / edit.file for edit in bug.edits}
        originals = {file: file.read_text() for file in files}
        try:
            for edit in bug.edits:
                file = self.sources / edit.file
                file.write_text(file.read_text().replace(edit.old, edit.new))
            self.build()
            yield
        finally:
            for file, text in originals.items():
                file.write_text(text)

    def build(self):
        result = subprocess.run(
            [*BUILD, "-j", str(self.jobs)], cwd=self.folder, capture_output=True, text=True)
        if result.returncode != 0:
            lines = (result.stdout + result.stderr).splitlines()
            errors = [line for line in lines if "error:" in line]
            raise BuildFailure("\n".join((errors or lines)[-10:]))

    def simulate(self, seconds):
        """Runs seeds from 1 on until one breaks a promise or the time is over."""
        began = time.monotonic()
        process = subprocess.Popen(
            [self.folder / ".build" / "release" / "simulate", "--seeds", str(1 << 40),
             "--failures", "1", "--jobs", str(self.jobs), "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err, ended = self.wait(process, seconds)
        elapsed = time.monotonic() - began
        if process.returncode not in (0, 1) or not ended:
            # A trap or an endless loop: the world is over, and whoever runs it sees that.
            promise = f"(ended by signal {-process.returncode})" if ended else "(hangs)"
            return Outcome(promise, seconds=elapsed)
        report = json.loads(out)
        outcome = Outcome(seed_count=report["seedCount"], seconds=elapsed)
        if report["broken"]:
            first = min(report["broken"], key=lambda broken: broken["seed"])
            outcome.promise, outcome.seed = first["promise"], first["seed"]
        return outcome

    @staticmethod
    def wait(process, seconds):
        """Ends the campaign after the time as Ctrl-C does; false where it did not end by itself."""
        try:
            return *process.communicate(timeout=seconds), True
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            return *process.communicate(timeout=30), True
        except subprocess.TimeoutExpired:
            process.kill()
            return *process.communicate(), False


def write(file, content):
    """Files that are the same keep their times, so that little is built anew."""
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
