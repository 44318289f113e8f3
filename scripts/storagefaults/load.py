"""Load on a daemon: writers, a pusher and a live reader, each in a thread of its own."""

import base64
import collections
import itertools
import random
import struct
import threading
import time

from .model import Record
from .wire import REPLICA

KEYS = [f"key-{index:02}" for index in range(48)]
HEAD = struct.Struct(">BBII")
SMALLEST, LARGEST = HEAD.size, 40_960
NUMBERS = itertools.count(1)


def new_value(index, writer, size):
    """Never sent before: key, writer, ascending number and size, repeated; 10 bytes at least."""
    head = HEAD.pack(index, writer, next(NUMBERS), size)
    return (head * (size // len(head) + 1))[:size]


class Load:
    """Runs until its connections break, which is expected once `is_ending` is true.

    The first connection pipelines, the second syncs, the others put and delete one key at a time;
    a live stream comes on top.
    """

    def __init__(self, client, model, seed, connection_count=8):
        self.client, self.model, self.seed = client, model, seed
        self.first_answer, self.is_ending = threading.Event(), False
        self.oddities, self.missing = collections.Counter(), 0
        bodies = [(self.watch,)] + [
            (self.push if index == 1 else self.put, index) for index in range(connection_count)]
        self.threads = [
            threading.Thread(target=self.follow, args=body, daemon=True) for body in bodies]
        for thread in self.threads:
            thread.start()

    def has_ended(self, seconds):
        deadline = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)

    def follow(self, body, *arguments):
        try:
            body(*arguments)
        except OSError as error:
            if not self.is_ending:
                self.oddities[f"a connection broke before the kill: {error}"] += 1
        except Exception as error:
            self.model.violations.append(f"a client failed: {error!r}")

    def put(self, writer):
        """Puts and deletes; the first writer pipelines."""
        source = random.Random(f"{self.seed} {writer}")
        with self.client.connect() as connection:
            while True:
                writes = []
                for _ in range(source.randint(2, 8) if writer == 0 else 1):
                    index = source.randrange(len(KEYS))
                    key, value = KEYS[index], self.new_content(source, writer, index)
                    writes.append((key, self.model.send(key, value)))
                    connection.send(
                        "DELETE" if value is None else "PUT", connection.path(key), value)
                for key, write in writes:
                    answer = connection.receive()
                    self.model.settle(key, write, answer)
                    self.note(answer.status, answer.code)

    def push(self, writer):
        """Syncs like a replica, from the position of the last restart on."""
        source = random.Random(f"{self.seed} {writer}")
        _, epoch, since = self.model.position
        with self.client.connect() as connection:
            while True:
                writes, changes = [], []
                for index in source.sample(range(len(KEYS)), source.randint(1, 4)):
                    key, value = KEYS[index], self.new_content(source, writer, index)
                    stamp = f"{int(time.time() * 1_000):012x}-{next(NUMBERS):08x}-{REPLICA}"
                    writes.append((key, self.model.send(key, value, stamp)))
                    content = ({"deleted": True} if value is None
                               else {"value": base64.b64encode(value).decode()})
                    changes.append({"key": key, "stamp": stamp, **content})
                answer = connection.sync(epoch, since, changes)
                self.note(answer.status, answer.code)
                if answer.status != 200:
                    for key, write in writes:
                        self.model.settle(key, write, answer)
                    continue
                page = answer.json
                for change in page["changes"]:
                    self.model.deliver(change, "pulled changes")
                rejected = {change["key"]: change["reason"] for change in page["rejected"]}
                for key, write in writes:
                    if key in rejected:
                        self.oddities[f"rejected: {rejected[key]}"] += 1
                        self.model.refuse(key, write)
                    else:
                        self.model.acknowledge(key, write, Record(write.stamp, None, write.value))
                epoch, since = page["epoch"], page["cursor"]

    def watch(self):
        """Reads the live stream, and opens it again when a new epoch has reset it."""
        last = self.model.cursor
        while True:
            with self.client.connect() as connection:
                for kind, change in connection.events(last):
                    if kind == "change":
                        if change["seq"] <= last:
                            self.model.violations.append(f"event {change['seq']} follows {last}")
                        last = change["seq"]
                        self.model.deliver(change)

    def new_content(self, source, writer, index):
        """A value, or None for a tombstone; small values are as frequent as large ones."""
        size = int(SMALLEST * (LARGEST / SMALLEST) ** source.random())
        value = new_value(index, writer, size)
        return None if source.random() < 0.1 else value

    def note(self, status, code):
        if status == 200:
            self.first_answer.set()
        elif code == "unknown-key":
            self.missing += 1
        else:
            self.oddities[f"answer {status} {code}"] += 1
