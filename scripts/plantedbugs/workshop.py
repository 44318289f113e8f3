"""A folder with a copy of the store and its simulator, into which bugs are planted."""

import contextlib
import json
import re
import signal
import subprocess
import time
from dataclasses import dataclass

# What the simulator consists of; the rest of KVStoreTesting would only take time to build.
COPIED = ("Sources/LocalFiles", "Sources/KVStoreCore", "Sources/KVStoreLog", "Sources/KVStoreLedger",
          "Sources/KVStoreEssentials", "Sources/KVStore", "Sources/Essentials", "Sources/CChecksum",
          "Sources/KVStoreWire", "Sources/KVStoreDocuments", "Sources/KVStoreSimulation",
          "Sources/KVStoreTesting/Time",
          "Sources/TerminalText", "Sources/CommandSupport", "Tests/SimulatedWorld", "Tests/simulate")

# Files are optimized one by one, so that a planted bug has only its own files compiled anew.
BUILD = ("swift", "build", "-c", "release", "--product", "simulate",
         "-Xswiftc", "-no-whole-module-optimization")

# Warnings are no errors here: a planted bug may leave something unused.
PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "planted",
    platforms: [.macOS(.v15)],
    dependencies: [%s],
    targets: [
        .target(name: "CChecksum"),
        .target(name: "Essentials", swiftSettings: settings),
        .target(name: "LocalFiles", dependencies: ["Essentials"], swiftSettings: settings),
        .target(name: "KVStoreCore", dependencies: ["Essentials"], swiftSettings: settings),
        .target(
            name: "KVStoreLog", dependencies: ["CChecksum", "KVStoreCore", "LocalFiles"],
            swiftSettings: settings),
        .target(name: "KVStoreLedger", dependencies: ["KVStoreLog"], swiftSettings: settings),
        .target(
            name: "KVStoreEssentials", dependencies: ["KVStoreLog"], swiftSettings: settings),
        .target(name: "KVStore", dependencies: ["KVStoreEssentials"], swiftSettings: settings),
        .target(name: "KVStoreWire", dependencies: ["KVStoreCore"], swiftSettings: settings),
        .target(name: "KVStoreDocuments", dependencies: ["KVStoreCore"], swiftSettings: settings),
        .target(
            name: "KVStoreSimulation",
            dependencies: ["KVStoreDocuments", "KVStoreLog", "KVStoreWire"],
            swiftSettings: settings),
        .target(
            name: "KVStoreTesting", dependencies: ["KVStore", "KVStoreLedger"],
            swiftSettings: settings),
        .target(
            name: "TerminalText", dependencies: ["Essentials"], swiftSettings: settings),
        .target(
            name: "CommandSupport", dependencies: ["TerminalText"], swiftSettings: settings),
        .target(
            name: "SimulatedWorld", dependencies: ["KVStoreSimulation", "KVStoreTesting"],
            path: "Tests/SimulatedWorld", swiftSettings: settings),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "SimulatedWorld", "CommandSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/simulate", swiftSettings: settings),
    ]
)
"""


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
        for name in COPIED:
            copy(root / name, folder / name)
        package = (root / "Package.swift").read_text()
        parser = re.search(r'\.package\(url: "[^"]*/swift-argument-parser"[^)]*\)', package)
        write(folder / "Package.swift", PACKAGE % parser.group())

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


def copy(source, target):
    """Copies a folder; files that are the same keep their times, so that little is built anew."""
    names = {file.relative_to(source) for file in source.rglob("*") if file.is_file()}
    for name in names:
        text = (source / name).read_text()
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        write(target / name, text)
    for file in [file for file in target.rglob("*") if file.is_file()]:
        if file.relative_to(target) not in names:
            file.unlink()


def write(file, text):
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
