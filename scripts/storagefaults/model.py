"""What a daemon may hold, derived from what it has answered."""

import base64
import collections
import threading
from typing import NamedTuple

NO_ANSWER = object()


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
        value = "a tombstone" if self.value is None else (
            f"{len(self.value)} bytes that begin with {self.value[:12].hex()}")
        return f"{value}, stamp {self.stamp}, sequence number {self.sequence}"


class Write(NamedTuple):
    value: bytes | None
    stamp: str | None  # None: the daemon chooses it
    floor: int  # the highest sequence number known when it was sent


class Model:
    """Stamps order the records of a key. Any thread may call `send` to `deliver` and `write`."""

    def __init__(self, records=None, epoch=None, cursor=0):
        self.lock = threading.Lock()
        self.violations = []
        self.counts = collections.Counter()
        self.begin(records or {}, epoch, cursor)

    def begin(self, records, epoch, cursor):
        """Continues from what a daemon holds; only this is durable."""
        self.position = (records, epoch, cursor)
        self.cursor = self.highest = cursor
        self.durable = collections.defaultdict(dict)  # by key and stamp
        self.unanswered = collections.defaultdict(list)
        self.owners = {}  # of sequence numbers
        for key, record in records.items():
            self.durable[key][record.stamp] = record
            self.owners[record.sequence] = (key, record.stamp)

    def send(self, key, value, stamp=None):
        """Must be called before a write is sent."""
        with self.lock:
            write = Write(value, stamp, self.highest)
            self.unanswered[key].append(write)
        return write

    def refuse(self, key, write):
        """Notes that a write was not stored."""
        with self.lock:
            self.unanswered[key].remove(write)

    def acknowledge(self, key, write, record):
        with self.lock:
            self.counts["acknowledged writes"] += 1
            if record.sequence is not None and record.sequence <= write.floor:
                self.violations.append(
                    f"{key} was sent after {write.floor} had been assigned: {record}")
            self.prove(key, record, "an acknowledgement")
            self.unanswered[key].remove(write)

    def settle(self, key, write, answer):
        """Notes the answer to a put or delete. After a server error the outcome stays open."""
        if answer.status == 200:
            change = answer.json
            self.acknowledge(key, write, Record(change["stamp"], change["seq"], write.value))
        elif answer.status < 500 or answer.code == "busy":
            self.refuse(key, write)

    def write(self, client, key, value):
        """Puts, or deletes for None, and notes the outcome; returns the answer, or NO_ANSWER."""
        write = self.send(key, value)
        try:
            answer = client.delete(key) if value is None else client.put(key, value)
        except OSError:
            return NO_ANSWER
        self.settle(key, write, answer)
        return answer

    def deliver(self, change, source="events"):
        """Notes a change that the daemon has sent to a reader."""
        with self.lock:
            self.counts[source] += 1
            self.prove(change["key"], Record.of(change), source)

    def deliver_all(self, reader):
        """The same for all that a live reader received; what `begin` knows may be superseded."""
        for change in list(reader.received):
            if change["seq"] > self.cursor:
                self.deliver(change)

    def prove(self, key, record, source):
        """Checks a record that the daemon has shown; it must be durable."""
        former = self.durable[key].get(record.stamp)
        if former is None and not self.was_sent(key, record):
            self.violations.append(f"{key} was never sent, but found in {source}: {record}")
        if former and not former.agrees(record):
            self.violations.append(f"{key} changed from {former} to {record} in {source}")
        if record.sequence is not None:
            self.highest = max(self.highest, record.sequence)
            owner = self.owners.setdefault(record.sequence, (key, record.stamp))
            if owner != (key, record.stamp):
                self.violations.append(f"{key} shares its sequence number with {owner}: {record}")
            if former is None and record.sequence <= self.cursor:
                self.violations.append(f"{key} is new and not above {self.cursor}: {record}")
        if former is None or former.sequence is None:
            self.durable[key][record.stamp] = record

    def was_sent(self, key, record):
        return any(record.value == write.value and write.stamp in (None, record.stamp)
                   for write in self.unanswered[key])

    def newest(self, key):
        return max(self.durable[key].values(), default=None, key=lambda record: record.stamp)

    def allows(self, key, value):
        """Whether a key that is present may have this value."""
        newest = self.newest(key)
        return (newest is not None and newest.value == value
                or any(write.value == value for write in self.unanswered[key]))

    def learn_position(self, client):
        """Notes a position from which a reader must be able to continue, if the daemon answers."""
        try:
            _, changes, epoch, cursor = client.download()
        except OSError:
            return
        self.position = (records_of(changes), epoch, cursor)

    def compare(self, client):
        """Compares the daemon with the model, also for a reader that continues; begins anew."""
        first, changes, epoch, cursor = client.download()
        found = records_of(changes)
        self.check(found, cursor)
        known, former_epoch, former_cursor = self.position
        if former_epoch:
            ends = {entry["epoch"]: entry["end"] for entry in first["lineage"]}
            if ends.get(former_epoch, -1) < former_cursor:
                self.violations.append(
                    f"epoch {former_epoch} reached {former_cursor}, now the history is {ends}")
            page, changes, *_ = client.download(former_epoch, former_cursor)
            if page["initial"]:
                self.counts["readers that started over"] += 1
            elif {**known, **records_of(changes)} != found:
                self.violations.append(f"a reader that continues at {former_cursor} differs")
        self.counts["records compared"] += len(found)
        self.begin(found, epoch, cursor)

    def check(self, found, cursor):
        """Checks all records of a daemon."""
        if cursor < self.highest:
            self.violations.append(f"the cursor fell from {self.highest} to {cursor}")
        for key in found.keys() - self.durable.keys() - self.unanswered.keys():
            self.violations.append(f"{key} was never sent: {found[key]}")
        for key in self.durable.keys() | self.unanswered.keys():
            newest, record = self.newest(key), found.get(key)
            if newest and (record is None or record.stamp < newest.stamp):
                self.violations.append(f"{key} is lost: {newest}; found {record or 'nothing'}")
            elif record:
                self.prove(key, record, "what the daemon holds")
                if record.sequence > cursor:
                    self.violations.append(f"{key} is beyond the cursor {cursor}: {record}")


def records_of(changes):
    return {change["key"]: Record.of(change) for change in changes}
