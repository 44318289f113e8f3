"""Rounds of load, kill, restart and comparison."""

import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .clients import Clients
from .connection import Connection
from .daemon import Daemon, Violation
from .model import Model, Record

KILL_SECONDS = 0.060
START_UP_SECONDS = 0.025
CHECK_ROUNDS = 500


class Campaign:
    """`sabotage` changes the model or the data after the last kill."""

    def __init__(self, binaries, seed, connection_count, work, sabotage=None):
        self.program, self.connection_count = Path(binaries) / "kvsd", connection_count
        self.seed, self.random = seed, random.Random(seed)
        self.work, self.sabotage = work, sabotage
        self.model, self.daemon, self.round = Model(), None, 0
        self.counts, self.oddities = collections.Counter(), collections.Counter()
        self.start_seconds, self.log_byte_count, self.file_counts = [], 0, collections.Counter()
        self.token = re.search(r"ubq_[\w-]+", self.run("device", "add", "campaign").stdout).group()

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments, "--data", self.work / "data"],
                              capture_output=True, text=True, timeout=120)

    def play(self, rounds):
        self.start()
        self.compare()
        for self.round in range(1, rounds + 1):
            self.load_and_kill()
            self.measure()
            if self.round % CHECK_ROUNDS == 0:
                self.check()
            if self.sabotage and self.round == rounds:
                self.sabotage(self)
            shutil.rmtree(self.work / "before", ignore_errors=True)
            shutil.copytree(self.work / "data", self.work / "before")
            self.start()
            self.compare()
        self.daemon.stop()
        self.check()

    def start(self):
        while self.random.random() < 0.1:
            self.daemon = Daemon(self.program, self.work)
            time.sleep(self.random.uniform(0, START_UP_SECONDS))
            self.daemon.kill()
            self.counts["kills during start-up"] += 1
        begin = time.monotonic()
        self.daemon = Daemon(self.program, self.work)
        self.port = self.daemon.wait_for_port()
        self.start_seconds.append(time.monotonic() - begin)

    def load_and_kill(self):
        clients = Clients(
            self.port, self.token, self.model, f"{self.seed} {self.round}", self.connection_count)
        has_answered = clients.first_answer.wait(30)
        time.sleep(self.random.uniform(0, KILL_SECONDS))
        clients.is_ending = True
        if not has_answered or not self.daemon.is_running:
            raise Violation(f"kvsd acknowledged nothing or ended: {self.daemon.last_words}")
        if self.random.random() < 0.05:
            self.daemon.stop()
            self.counts["stops with SIGTERM"] += 1
        else:
            self.daemon.kill()
            self.counts["kills"] += 1
        if not clients.have_ended(30):
            raise Violation("a connection outlived the daemon by 30 s")
        self.oddities += clients.oddities
        self.counts["deletions of a missing key"] += clients.missing
        self.note_log()
        self.raise_violations()

    def compare(self):
        """Compares the daemon with the model, and what a reader that continues receives."""
        model = self.model
        with Connection(self.port, self.token) as connection:
            full, changes, epoch, cursor = connection.download()
            found = {change["key"]: Record.of(change) for change in changes}
            model.compare(found, cursor)
            if model.epoch:
                ends = {entry["epoch"]: entry["end"] for entry in full["lineage"]}
                if ends.get(model.epoch, -1) < model.cursor:
                    model.violations.append(
                        f"epoch {model.epoch} reached {model.cursor}, now the history is {ends}")
                page, changes, *_ = connection.download(model.epoch, model.cursor)
                changed = {change["key"]: Record.of(change) for change in changes}
                if page["initial"]:
                    self.counts["readers that started over"] += 1
                elif {**model.state, **changed} != found:
                    model.violations.append(f"a reader that continues at {model.cursor} differs")
        self.raise_violations()
        self.counts["records compared"] += len(found)
        model.begin(found, epoch, cursor)

    def raise_violations(self):
        if self.model.violations:
            raise Violation("\n  ".join(self.model.violations[:20]))

    def check(self):
        done = self.run("check")
        self.counts["checks of all files"] += 1
        if done.returncode != 0:
            raise Violation(f"kvsd check: {done.stdout}{done.stderr}")
        acknowledged = self.model.counts["acknowledged writes"]
        print(f"  round {self.round}: {acknowledged} acknowledged writes, log at most "
              f"{self.log_byte_count >> 10} KiB, check passed", file=sys.stderr, flush=True)

    def measure(self):
        files = list(os.scandir(self.work / "data/log"))
        byte_count = sum(file.stat().st_size for file in files)
        self.log_byte_count = max(self.log_byte_count, byte_count)
        names = collections.Counter(re.sub("[0-9a-f]{16}", "<number>", file.name) for file in files)
        self.file_counts |= names  # the maximum of each

    def note_log(self):
        for line in self.daemon.log.read_text(errors="replace").splitlines():
            if not line.startswith("listening on") and " info" not in line:
                self.oddities["log: " + re.sub(r"/\S+/|[0-9a-f]{16}|\d+", "…", line)] += 1

    def report(self, seconds):
        starts = sorted(self.start_seconds) or [0]
        return {
            "seed": self.seed, "rounds": self.round, "seconds": round(seconds, 1),
            "rounds per second": round(self.round / seconds, 1),
            **self.counts, **self.model.counts,
            "log bytes at most": self.log_byte_count, "log files at most": dict(self.file_counts),
            "milliseconds to start": {
                "median": round(starts[len(starts) // 2] * 1_000),
                "99 %": round(starts[len(starts) * 99 // 100] * 1_000),
                "longest": round(starts[-1] * 1_000)},
            "oddities": dict(self.oddities),
        }


def run(binaries, seed, connection_count, rounds, sabotage=None):
    """The report of a campaign, with the violation that ended it. Its data is kept if it failed."""
    work = Path(tempfile.mkdtemp(prefix="kill-daemon-"))
    begin, outcome, keeps_data = time.monotonic(), {}, True
    campaign = Campaign(binaries, seed, connection_count, work, sabotage)
    try:
        campaign.play(rounds)
        keeps_data = False
    except Violation as violation:
        outcome = {"violation": str(violation)}
        keeps_data = sabotage is None
    except KeyboardInterrupt:
        outcome = {"interrupted": True}
        keeps_data = False
    finally:
        if campaign.daemon:
            campaign.daemon.kill()
        if keeps_data:
            print(f"round {campaign.round} failed; {work}/before is the data as the last restart "
                  f"found it, {work}/data as it is now", file=sys.stderr)
        else:
            shutil.rmtree(work)
    return {**campaign.report(time.monotonic() - begin), **outcome}
