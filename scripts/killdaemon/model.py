"""What a daemon may hold after a restart, derived from what it has answered."""

import base64
import collections
import itertools
import struct
import threading
from typing import NamedTuple

KEYS = [f"key-{index:02}" for index in range(48)]
HEAD = struct.Struct(">BBII")


def new_value(index, writer, number, size):
    """Index of the key, writer, ascending number and size, repeated: 10 bytes at least."""
    head = HEAD.pack(index, writer, number, size)
    return (head * (size // len(head) + 1))[:size]


def name_of(value):
    if value is None:
        return "a tombstone"
    if len(value) < HEAD.size:
        return f"{len(value)} unknown bytes"
    index, writer, number, size = HEAD.unpack_from(value)
    intact = "intact" if value == new_value(index, writer, number, size) else "not intact"
    return f"value {number} of writer {writer} for key {index}, {size} bytes, {intact}"


class Record(NamedTuple):
    stamp: str
    sequence: int | None  # None: the answer does not name it
    value: bytes | None  # None: a tombstone

    @classmethod
    def of(cls, change):
        value = None if change.get("deleted") else base64.b64decode(change["value"])
        return cls(change["stamp"], change["seq"], value)

    def agrees(self, other):
        return self.value == other.value and (
            None in (self.sequence, other.sequence) or self.sequence == other.sequence)

    def __str__(self):
        return f"{name_of(self.value)}, stamp {self.stamp}, sequence number {self.sequence}"


class Model:
    """Stamps order the records of a key. Any thread may call `send` to `deliver`."""

    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.violations = []
        self.counts = collections.Counter()
        self.begin({}, None, 0)

    def begin(self, state, epoch, cursor):
        """Continues from the records of a daemon that has started; only these are durable."""
        self.state, self.epoch, self.cursor = state, epoch, cursor
        self.durable = {key: {} for key in KEYS}  # by stamp
        self.unanswered = {key: [] for key in KEYS}
        self.owners = {}  # of sequence numbers
        for key, record in state.items():
            self.durable[key][record.stamp] = record
            self.owners[record.sequence] = (key, record.stamp)

    def send(self, key, value, stamp=None):
        """Must be called before a write is sent; without a stamp the daemon chooses one."""
        write = (value, stamp)
        with self.lock:
            self.unanswered[key].append(write)
        return write

    def refuse(self, key, write):
        """Notes that a write was not stored."""
        with self.lock:
            self.unanswered[key].remove(write)

    def acknowledge(self, key, write, record):
        with self.lock:
            self.counts["acknowledged writes"] += 1
            self.prove(key, record, "an acknowledgement")
            self.unanswered[key].remove(write)

    def deliver(self, change, source):
        """Notes a change that the daemon has sent to a reader."""
        with self.lock:
            self.counts[source] += 1
            self.prove(change["key"], Record.of(change), source)

    def prove(self, key, record, source):
        """Checks a record that the daemon has shown; it must be durable."""
        former = self.durable[key].get(record.stamp)
        if former is None and not self.was_sent(key, record):
            self.violations.append(f"{key} was never sent, but found in {source}: {record}")
        if former and not former.agrees(record):
            self.violations.append(f"{key} changed from {former} to {record} in {source}")
        if record.sequence is not None:
            owner = self.owners.setdefault(record.sequence, (key, record.stamp))
            if owner != (key, record.stamp):
                self.violations.append(f"{key} shares its sequence number with {owner}: {record}")
            if former is None and record.sequence <= self.cursor:
                self.violations.append(f"{key} is new and not above {self.cursor}: {record}")
        if former is None or former.sequence is None:
            self.durable[key][record.stamp] = record

    def was_sent(self, key, record):
        return any(record.value == value and stamp in (None, record.stamp)
                   for value, stamp in self.unanswered[key])

    def compare(self, found, cursor):
        """Checks all records of a daemon that was restarted."""
        if cursor < max(self.owners, default=0):
            self.violations.append(f"the cursor fell from {max(self.owners)} to {cursor}")
        for key in found.keys() - set(KEYS):
            self.violations.append(f"{key} was never sent")
        for key in KEYS:
            newest = max(self.durable[key].values(), default=None, key=lambda record: record.stamp)
            record = found.get(key)
            if newest and (record is None or record.stamp < newest.stamp):
                self.violations.append(f"{key} is lost: {newest}; found {record or 'nothing'}")
            elif record:
                self.prove(key, record, "the restarted daemon")
                if record.sequence > cursor:
                    self.violations.append(f"{key} is beyond the cursor {cursor}: {record}")
