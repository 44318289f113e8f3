"""kvsd killed under load: rounds of load, kill, restart and comparison.

Each round puts, deletes and pushes values over several connections while a live stream reads them.
Up to 60 ms after the first acknowledgement the daemon is killed; sometimes it is killed again while
it starts, sometimes stopped with SIGTERM instead. Segments are small, so that the log rolls,
prepares space and compacts all the time. The seed determines load and delays, but not what the
kernel schedules: a failed round rarely fails again, and its data is kept.
"""

import collections
import os
import re
import shutil
import time

from .load import KEYS, Load, new_value
from .model import Model, Record
from .programs import Daemon, copy_directory
from .wire import REPLICA, Client

KILL_SECONDS = 0.060
START_UP_SECONDS = 0.025
CHECK_ROUNDS = 500
LIMITS = ("--requests-per-second", "1000000", "--streams-per-device", "5000",
          "--connections", "6000")
FUTURE = f"ffffffffffff-00000000-{REPLICA}"


class Violation(Exception):
    """Something that the store promises did not hold."""


class Rounds:
    """`sabotage` changes the model or the data after the last kill."""

    def __init__(self, programs, random, name, sabotage=None):
        self.programs, self.random, self.sabotage = programs, random, sabotage
        self.data, (self.token,) = programs.new_data(f"{name}/data")
        self.before = self.data.with_name("before")
        self.model, self.counts = Model(), collections.Counter()
        self.log_byte_count, self.file_counts = 0, collections.Counter()

    def play(self, count):
        self.start()
        self.compare()
        for number in range(1, count + 1):
            self.load_and_kill()
            self.measure()
            if number % CHECK_ROUNDS == 0:
                self.check()
            if self.sabotage and number == count:
                self.sabotage(self)
            shutil.rmtree(self.before, ignore_errors=True)
            copy_directory(self.data, self.before)
            self.start()
            self.compare()
            self.counts["rounds"] += 1
        self.stop()
        self.check()

    def start(self):
        while self.random.random() < 0.1:
            self.serve(self.random.uniform(0, START_UP_SECONDS)).kill()
            self.counts["kills during start-up"] += 1
        self.daemon = self.serve()
        if not self.daemon.port:
            raise Violation(f"kvsd did not start: {self.daemon.last_words}")
        self.client = Client(self.daemon.port, self.token)

    def serve(self, seconds=30):
        return Daemon(self.programs, self.data, segment_bytes=262_144, extra=LIMITS,
                      start_seconds=seconds)

    def stop(self):
        if self.daemon.stop() != 0:
            raise Violation(f"SIGTERM did not stop kvsd cleanly: {self.daemon.last_words}")

    def load_and_kill(self):
        load = Load(self.client, self.model, self.random.random())
        has_answered = load.first_answer.wait(30)
        time.sleep(self.random.uniform(0, KILL_SECONDS))
        load.is_ending = True
        if not has_answered or not self.daemon.is_running:
            raise Violation(f"kvsd acknowledged nothing or ended: {self.daemon.last_words}")
        if self.random.random() < 0.05:
            self.stop()
            self.counts["stops with SIGTERM"] += 1
        else:
            self.daemon.kill()
            self.counts["kills"] += 1
        if not load.has_ended(30):
            raise Violation("a connection outlived the daemon by 30 s")
        self.counts += load.oddities
        self.counts["deletions of a missing key"] += load.missing
        for line in self.daemon.words.splitlines():
            if not line.startswith("listening on") and " info" not in line:
                self.counts["log: " + re.sub(r"/\S+/|[0-9a-f]{16}|\d+", "…", line)] += 1
        self.raise_violations()

    def compare(self):
        self.model.compare(self.client)
        self.raise_violations()

    def raise_violations(self):
        if self.model.violations:
            raise Violation("\n  ".join(self.model.violations[:20]))

    def check(self):
        done = self.programs.check(self.data)
        self.counts["checks of all files"] += 1
        if done.returncode != 0:
            raise Violation(f"kvsd check: {(done.stdout + done.stderr).decode()}")

    def measure(self):
        files = list(os.scandir(self.data / "log"))
        byte_count = sum(file.stat().st_size for file in files)
        self.log_byte_count = max(self.log_byte_count, byte_count)
        names = collections.Counter(re.sub("[0-9a-f]{16}", "<number>", file.name) for file in files)
        self.file_counts |= names  # the maximum of each

    def notes(self):
        counts = {**self.counts, **self.model.counts}
        files = ", ".join(f"{count} {name}" for name, count in self.file_counts.items())
        return [", ".join(f"{count} {name}" for name, count in counts.items()),
                f"log at most {self.log_byte_count >> 10} KiB: {files}"]


def killed_under_load(programs, random, count):
    """Compares all records with the model after each restart, and at times checks all files."""

    def body(row):
        rounds = Rounds(programs, random, "under-load")
        try:
            rounds.play(count)
        except Violation as violation:
            row.violate(str(violation), f"round {rounds.counts['rounds'] + 1}")
            row.notes.append(
                f"{programs.keep(rounds.data.parent)} has the data as the last restart found it "
                "(before) and as it was then")
        rounds.daemon.kill()
        row.runs, row.hits = rounds.counts["rounds"], rounds.counts["kills"]
        row.notes += rounds.notes()

    return body


def invent_acknowledgement(rounds):
    model, value = rounds.model, new_value(0, 99, 100)
    write = model.send(KEYS[0], value)
    model.acknowledge(KEYS[0], write, Record(FUTURE, model.highest + 100_000, value))


def invent_push(rounds):
    write = rounds.model.send(KEYS[0], None, FUTURE)
    rounds.model.acknowledge(KEYS[0], write, Record(FUTURE, None, None))


def invent_event(rounds):
    sequence = rounds.model.highest + 100_000
    rounds.model.deliver({"key": KEYS[0], "stamp": FUTURE, "seq": sequence, "deleted": True})


def forget_what_was_sent(rounds):
    rounds.model.durable.clear()
    rounds.model.unanswered.clear()


def restore_older_copy(rounds):
    shutil.rmtree(rounds.data)
    rounds.before.rename(rounds.data)


def change_a_byte(rounds):
    path = min((rounds.data / "log").glob("*.log"))
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


SABOTAGES = [
    (None, None),
    (invent_acknowledgement, "key-00 is lost"),
    (invent_push, "key-00 is lost"),
    (invent_event, "key-00 was never sent"),
    (forget_what_was_sent, "was never sent"),
    (restore_older_copy, "the cursor fell"),
    (change_a_byte, "kvsd did not start"),
]


def checks_see_sabotage(programs, random):
    """Planted losses: each is noticed, and where nothing was planted, nothing is."""

    def body(row):
        for sabotage, expected in SABOTAGES:
            name = sabotage.__name__ if sabotage else "nothing"
            rounds, found = Rounds(programs, random, name, sabotage), None
            try:
                rounds.play(3)
            except Violation as violation:
                found = str(violation)
            rounds.daemon.kill()
            row.runs += 1
            row.hits += found is not None
            is_noticed = expected in found if expected and found else found is expected
            row.expect(is_noticed, f"expected {expected}, found {found}", name)

    return body
