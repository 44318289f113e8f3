"""The load of one round: writers, a pusher and a live reader, each in a thread of its own."""

import base64
import collections
import random
import threading
import time

from .connection import REPLICA, STORE, Connection
from .model import KEYS, Record, new_value

SMALLEST, LARGEST = 10, 40_960


class Clients:
    """They run until their connections break, which is expected once `is_ending` is true."""

    def __init__(self, port, token, model, seed, connection_count):
        self.port, self.token, self.model, self.seed = port, token, model, seed
        self.first_answer, self.is_ending = threading.Event(), False
        self.oddities, self.missing = collections.Counter(), 0
        clients = [(self.watch,)] + [
            (self.push if index == 1 else self.put, index) for index in range(connection_count)]
        self.threads = [
            threading.Thread(target=self.follow, args=client, daemon=True) for client in clients]
        for thread in self.threads:
            thread.start()

    def have_ended(self, seconds):
        deadline = time.monotonic() + seconds
        for thread in self.threads:
            thread.join(max(0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)

    def follow(self, client, *arguments):
        try:
            client(*arguments)
        except OSError as error:
            if not self.is_ending:
                self.oddities[f"a connection broke before the kill: {error}"] += 1
        except Exception as error:
            self.model.violations.append(f"a client failed: {error!r}")

    def put(self, writer):
        """Puts and deletes; the first writer pipelines."""
        source = random.Random(f"{self.seed} {writer}")
        with Connection(self.port, self.token) as connection:
            while True:
                writes, requests = [], []
                for _ in range(source.randint(2, 8) if writer == 0 else 1):
                    index = source.randrange(len(KEYS))
                    key, value = KEYS[index], self.new_content(source, writer, index)
                    writes.append((key, self.model.send(key, value)))
                    method = "DELETE" if value is None else "PUT"
                    requests.append(
                        (method, f"{STORE}/keys/{key}", value, "application/octet-stream"))
                connection.send(*requests)
                for key, write in writes:
                    status, answer = connection.receive()
                    if status == 200:
                        record = Record(answer["stamp"], answer["seq"], write[0])
                        self.model.acknowledge(key, write, record)
                        self.first_answer.set()
                    else:
                        self.decline(status, answer["code"], key, write)

    def push(self, writer):
        """Syncs like a replica, from the cursor of the last restart on."""
        source = random.Random(f"{self.seed} {writer}")
        epoch, since = self.model.epoch, self.model.cursor
        with Connection(self.port, self.token) as connection:
            while True:
                writes, changes = [], []
                for index in source.sample(range(len(KEYS)), source.randint(1, 4)):
                    key, value = KEYS[index], self.new_content(source, writer, index)
                    count = next(self.model.numbers)
                    stamp = f"{int(time.time() * 1_000):012x}-{count:08x}-{REPLICA}"
                    writes.append((key, self.model.send(key, value, stamp)))
                    content = ({"deleted": True} if value is None
                               else {"value": base64.b64encode(value).decode()})
                    changes.append({"key": key, "stamp": stamp, **content})
                status, page = connection.sync(epoch, since, changes)
                if status != 200:
                    for key, write in writes:
                        self.decline(status, page["code"], key, write)
                    continue
                for change in page["changes"]:
                    self.model.deliver(change, "pulled changes")
                rejected = {change["key"]: change["reason"] for change in page["rejected"]}
                for key, write in writes:
                    if key in rejected:
                        self.decline(status, rejected[key], key, write)
                    else:
                        self.model.acknowledge(key, write, Record(write[1], None, write[0]))
                self.first_answer.set()
                epoch, since = page["epoch"], page["cursor"]

    def watch(self):
        """Reads the live stream, and opens it again when a new epoch has reset it."""
        last = self.model.cursor
        while True:
            with Connection(self.port, self.token) as connection:
                for kind, change in connection.events(since=last):
                    if kind == "change":
                        if change["seq"] <= last:
                            self.model.violations.append(f"event {change['seq']} follows {last}")
                        last = change["seq"]
                        self.model.deliver(change, "events")

    def new_content(self, source, writer, index):
        size = int(SMALLEST * (LARGEST / SMALLEST) ** source.random())
        value = new_value(index, writer, next(self.model.numbers), size)
        return None if source.random() < 0.1 else value

    def decline(self, status, code, key, write):
        """Notes a write that was not accepted; one error leaves open whether it was stored."""
        if code == "unknown-key":
            self.missing += 1
        else:
            self.oddities[f"answer {status} {code}"] += 1
        if code != "outcome-unknown":
            self.model.refuse(key, write)
