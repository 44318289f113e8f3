"""Writers and live streams that go on through faults, and what they may see."""

import base64
import collections
import json
import random
import threading
import time

from storagefaults.load import KEYS, new_value
from storagefaults.model import Model, Record, records_of
from storagefaults.wire import REPLICA, Client, Connection

STORES = ("first", "second", "third")
# Answers which say that nothing was stored.
REFUSALS = {"busy", "stopping", "database-unavailable", "database-moved", "database-failed",
            "disk-full", "account-full", "memory-full"}


class StoreModel(Model):
    """Also believes the answers of a node which say that nothing was stored."""

    def begin(self, records, epoch, cursor):
        # What was sent without an answer may still arrive.
        former = getattr(self, "unanswered", {})
        super().begin(records, epoch, cursor)
        for key, writes in former.items():
            self.unanswered[key] = writes[-50:]

    def settle(self, key, write, answer):
        if answer.status == 200:
            change = answer.json
            size = None if change.get("deleted") else change.get("byteCount")
            if size != (None if write.value is None else len(write.value)):
                self.violations.append(f"a write of {key} was answered with another: {change}")
            self.acknowledge(key, write, Record(change["stamp"], change["seq"], write.value))
        elif answer.code in REFUSALS or answer.status < 500 and answer.status != 408:
            self.refuse(key, write)
            self.counts["refused"] += answer.status >= 500
        else:
            self.counts["unknown"] += 1


class Load:
    """Writers of all stores. `begin` and `end` a period of writing; the counts remain."""

    def __init__(self, cluster, seed, writer_count=4):
        self.cluster, self.seed, self.writer_count = cluster, seed, writer_count
        self.models = {store: StoreModel() for store in STORES}
        self.codes = collections.Counter()
        self.acknowledged = 0
        self.last_acknowledgements = []  # times
        self.threads, self.period = [], 0
        self.is_ending = True

    def begin(self):
        self.is_ending, self.period = False, self.period + 1
        self.threads = [threading.Thread(target=self.follow, args=(index,), daemon=True)
                        for index in range(self.writer_count)]
        for thread in self.threads:
            thread.start()

    def end(self):
        """False if a writer still waits for an answer."""
        self.is_ending = True
        deadline = time.monotonic() + 45
        for thread in self.threads:
            thread.join(max(0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self.threads)

    def wait(self, count, seconds, since=None):
        """Whether so many writes were acknowledged after `since`."""
        since, deadline = since or time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < deadline:
            if sum(1 for at in self.last_acknowledgements[-count * 4:] if at > since) >= count:
                return True
            time.sleep(0.005)
        return False

    def note(self, answer):
        self.codes[f"{answer.status} {answer.code or ''}".strip()] += 1
        if answer.status == 200:
            self.acknowledged += 1
            self.last_acknowledgements.append(time.monotonic())
            del self.last_acknowledgements[:-1000]

    def follow(self, writer):
        source = random.Random(f"{self.seed} {self.period} {writer}")
        ports = self.cluster.ports()
        write = self.push if writer == 0 else self.put
        attempt = writer
        while not self.is_ending:
            # The first goes through the proxy, as do those whose node is gone.
            port = ports[attempt % len(ports)]
            attempt += 1
            try:
                with Connection(port, self.cluster.token, timeout=35) as connection:
                    while not self.is_ending:
                        answer = write(connection, source, writer)
                        self.note(answer)
                        if answer.headers.get("connection", "").lower() == "close":
                            break
                        if answer.status >= 500:
                            time.sleep(0.02)
            except OSError:
                self.codes["no answer"] += 1
                time.sleep(0.01)
            except Exception as error:
                self.models[STORES[0]].violations.append(f"a client failed: {error!r}")
                return

    def choose(self, source, connection):
        store = source.choice(STORES)
        connection.store = store
        return self.models[store]

    def put(self, connection, source, writer):
        model = self.choose(source, connection)
        index = source.randrange(len(KEYS))
        key, value = KEYS[index], self.new_content(source, writer, index)
        write = model.send(key, value)
        connection.send("DELETE" if value is None else "PUT", connection.path(key), value)
        answer = connection.receive()
        model.settle(key, write, answer)
        return answer

    def push(self, connection, source, writer):
        """Syncs changes like a replica without a cursor of its own, which reads on from now."""
        model = self.choose(source, connection)
        writes, changes = [], []
        for index in source.sample(range(len(KEYS)), source.randint(1, 3)):
            key, value = KEYS[index], self.new_content(source, writer, index)
            stamp = self.stamp()
            writes.append((key, model.send(key, value, stamp)))
            content = ({"deleted": True} if value is None
                       else {"value": base64.b64encode(value).decode()})
            changes.append({"key": key, "stamp": stamp, **content})
        _, epoch, since = model.position
        answer = connection.sync(epoch, since, changes)
        if answer.status != 200:
            for key, write in writes:
                model.settle(key, write, answer)
            return answer
        page = answer.json
        for change in page["changes"]:
            model.deliver(change, "pulled changes")
        rejected = {change["key"]: change["reason"] for change in page["rejected"]}
        for key, write in writes:
            if key in rejected:
                self.codes[f"rejected: {rejected[key]}"] += 1
                model.refuse(key, write)
            elif page["more"]:
                pass
            else:
                model.acknowledge(key, write, Record(write.stamp, None, write.value))
        return answer

    counter = 0

    def stamp(self):
        Load.counter += 1
        return f"{int(time.time() * 1_000):012x}-{Load.counter:08x}-{REPLICA}"

    def new_content(self, source, writer, index):
        # No two writers have values of one size, by which their answers are told apart.
        size = int(2 * 256 ** source.random()) * 8 + writer
        value = new_value(index, writer, size)
        return None if source.random() < 0.1 else value


class Stream:
    """A live stream that is opened again, at another node, whenever it ends."""

    def __init__(self, cluster, model, store, resets_expected=False):
        self.cluster, self.model, self.store = cluster, model, store
        self.state, self.epoch, self.cursor = {}, None, 0
        self.counts = collections.Counter()
        self.resets_expected = resets_expected
        self.connection, self.is_ending = None, False
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        attempt = 0
        while not self.is_ending:
            ports = self.cluster.ports()
            port = ports[attempt % len(ports)]
            attempt += 1
            try:
                if self.epoch is None:
                    self.start_over(port)
                self.read(port)
            except (OSError, ValueError, KeyError):
                time.sleep(0.02)
            except Exception as error:
                self.model.violations.append(f"a stream failed: {error!r}")
                return

    def start_over(self, port):
        _, changes, epoch, cursor = Client(
            port, self.cluster.token, self.store, timeout=20).download()
        for change in changes:
            self.model.deliver(change, "a download of a stream")
        self.state, self.epoch, self.cursor = records_of(changes), epoch, cursor

    def read(self, port):
        with Connection(port, self.cluster.token, self.store, timeout=20) as connection:
            self.connection = connection
            connection.fields += f"Last-Event-ID: {self.cursor}\r\n"
            connection.send("GET", f"/v1/stores/{self.store}/changes?epoch={self.epoch}")
            status, _ = connection.receive_head()
            if status != 200:
                raise OSError(f"the live stream was answered {status}")
            self.counts["opened"] += 1
            for kind, content in events(connection.chunks()):
                if self.take(kind, content):
                    return

    def take(self, kind, content):
        if kind == "opened" and content["epoch"] != self.epoch:
            self.model.violations.append(
                f"a stream of epoch {self.epoch} was opened as {content['epoch']}")
        elif kind == "change":
            if content["seq"] <= self.cursor:
                self.model.violations.append(
                    f"event {content['seq']} of {self.store} follows {self.cursor}")
            self.cursor = content["seq"]
            self.counts["events"] += 1
            self.model.deliver(content)
            self.state[content["key"]] = Record.of(content)
        elif kind == "reset":
            self.counts["resets"] += 1
            if not self.resets_expected:
                self.model.violations.append(f"a stream of {self.store} was reset")
            self.epoch = None
            return True
        return False

    def move(self):
        """Ends the connection; the stream goes on at the next node."""
        connection = self.connection
        if connection:
            try:
                connection.socket.shutdown(2)
            except OSError:
                pass

    def wait(self, found, seconds):
        """How long it took until the stream has seen the last state of every key; None if not."""
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            if dict(self.state) == found:
                return time.monotonic() - start
            time.sleep(0.005)
        return None

    def end(self):
        self.is_ending = True
        self.move()


def events(chunks):
    buffer = b""
    for chunk in chunks:
        *complete, buffer = (buffer + chunk).split(b"\n\n")
        for event in complete:
            if event.startswith(b":"):
                continue
            fields = dict(line.split(b": ", 1) for line in event.split(b"\n"))
            yield fields[b"event"].decode(), json.loads(fields[b"data"])


def compare(cluster, load, streams, catch_up_seconds=25):
    """Compares nodes, streams and models when nobody writes; the longest wait for a stream."""
    longest = 0.0
    for store, model in load.models.items():
        own = [stream for stream in streams if stream.store == store]
        # What was sent without an answer may still arrive meanwhile.
        for seconds in (0.3, 1, catch_up_seconds):
            complaint, lag = compare_store(cluster, store, model, own, seconds)
            longest = max(longest, lag)
            if not complaint:
                break
        else:
            model.violations.append(complaint)
    return longest


def compare_store(cluster, store, model, streams, seconds):
    """What differs, or None; and how long the streams took to see the last states."""
    _, changes, epoch, cursor = cluster.nodes[0].client(store).download()
    found, start = records_of(changes), time.monotonic()
    for node in cluster.nodes[1:]:
        _, changes, *end = node.client(store).download()
        if (records_of(changes), *end) != (found, epoch, cursor):
            return f"the nodes differ in {store}", 0
    for stream in streams:
        if stream.wait(found, seconds) is None:
            missing = sorted(key for key in found if stream.state.get(key) != found[key])
            return (f"a stream of {store} at {stream.cursor} of {cursor} did not see "
                    f"{missing[:5]}"), seconds
    lag = time.monotonic() - start
    # The model begins anew with this, so nothing older may be on its way to a stream.
    model.compare(cluster.nodes[0].client(store))
    return None, lag


def violations(load):
    return [text for model in load.models.values() for text in model.violations]
