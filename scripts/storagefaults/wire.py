"""What a client of the daemon sends and receives, over sockets of its own."""

import json
import socket
import threading
import time

REPLICA = "00000000000000aa"


class Answer:
    """Names of headers are in lower case."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The stable code of a problem document; None for everything else."""
        if self.headers.get("content-type") != "application/problem+json":
            return None
        return self.json["code"]

    def __str__(self):
        return f"{self.status} {self.code or ''}"


class Requests:
    """The requests of a client, which `request` sends; an OSError when there is no answer."""

    def put(self, key, value):
        return self.request("PUT", self.path(key), value)

    def delete(self, key):
        return self.request("DELETE", self.path(key))

    def get(self, key):
        return self.request("GET", self.path(key), accept="application/octet-stream")

    def health(self, path="/healthz"):
        return self.request("GET", path)

    def sync(self, epoch=None, since=0, changes=(), horizon=None):
        message = {"replica": REPLICA, "epoch": epoch, "since": since,
                   "horizon": horizon, "changes": list(changes)}
        return self.request(
            "POST", f"/v1/stores/{self.store}/sync", json.dumps(message).encode(),
            "application/json")

    def download(self, epoch=None, since=0):
        """The first page, all changes after a cursor, and where they end: epoch and cursor."""
        first, horizon, changes = None, None, []
        while True:
            answer = self.sync(epoch, since, horizon=horizon)
            if answer.status != 200:
                raise OSError(f"a download was answered {answer}")
            page = answer.json
            first = first or page
            changes += page["changes"]
            epoch, since, horizon = page["epoch"], page["cursor"], page.get("horizon")
            if not page["more"]:
                return first, changes, epoch, since

    def path(self, key):
        return f"/v1/stores/{self.store}/keys/{key}"


class Connection(Requests):
    """A connection that stays open and can pipeline. Not thread-safe."""

    def __init__(self, port, token, store="faults", timeout=40):
        self.store = store
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb", buffering=1 << 16)
        self.fields = f"HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    def request(self, *arguments, **options):
        self.send(*arguments, **options)
        return self.receive()

    def send(self, method, path, body=None, type="application/octet-stream", accept="*/*"):
        """Sends a request without waiting for its answer."""
        content = "" if body is None else (
            f"Content-Type: {type}\r\nContent-Length: {len(body)}\r\n")
        head = f"{method} {path} {self.fields}Accept: {accept}\r\n{content}\r\n"
        self.socket.sendall(head.encode() + (body or b""))

    def receive(self):
        status, headers = self.receive_head()
        if headers.get("transfer-encoding") == "chunked":
            return Answer(status, headers, b"".join(self.chunks()))
        return Answer(status, headers, self.read(int(headers.get("content-length", 0))))

    def receive_head(self):
        status, headers = int(self.receive_line().split()[1]), {}
        while line := self.receive_line():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def receive_line(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        return line[:-2].decode()

    def read(self, byte_count):
        content = self.reader.read(byte_count)
        if len(content) < byte_count:
            raise ConnectionError("the connection was closed")
        return content

    def chunks(self):
        while byte_count := int(self.receive_line(), 16):
            yield self.read(byte_count)
            self.receive_line()
        self.receive_line()

    def events(self, since):
        """Kind and data of each event of a live stream; a heartbeat is one without data."""
        self.send("GET", f"/v1/stores/{self.store}/changes?since={since}")
        status, _ = self.receive_head()
        if status != 200:
            raise OSError(f"the live stream was answered {status}")
        buffer = b""
        for chunk in self.chunks():
            *events, buffer = (buffer + chunk).split(b"\n\n")
            for event in events:
                if event.startswith(b":"):
                    yield "heartbeat", None
                    continue
                fields = dict(line.split(b": ", 1) for line in event.split(b"\n"))
                yield fields[b"event"].decode(), json.loads(fields[b"data"])


class Client(Requests):
    """One token at one daemon; a connection for each request, so that none is left half used."""

    def __init__(self, port, token, store="faults", timeout=40):
        self.port, self.token, self.store, self.timeout = port, token, store, timeout

    def connect(self, timeout=None):
        return Connection(self.port, self.token, self.store, timeout or self.timeout)

    def request(self, *arguments, **options):
        while True:
            with self.connect() as connection:
                answer = connection.request(*arguments, **options)
            if answer.status != 429:
                return answer
            time.sleep(0.2)


class EventReader:
    """A live stream, read by a thread; the changes that it received stay in `received`.

    After a reset it returns, as often as `returns` says: a new part of the history has begun.
    """

    def __init__(self, client, since=0, returns=3):
        self.client, self.since, self.returns = client, since, returns
        self.received, self.kinds, self.heartbeats, self.is_over = [], [], 0, False
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            self.follow()
            while self.kinds and self.kinds[-1] == "reset" and self.returns:
                self.returns -= 1
                self.since = self.received[-1]["seq"] if self.received else 0
                self.follow()
        except (OSError, ValueError):
            pass
        finally:
            with self.changed:
                self.is_over = True
                self.changed.notify_all()

    def follow(self):
        with self.client.connect(timeout=60) as connection:
            for kind, change in connection.events(self.since):
                with self.changed:
                    if kind == "heartbeat":
                        self.heartbeats += 1
                    else:
                        self.kinds.append(kind)
                    if kind == "change":
                        self.received.append(change)
                    self.changed.notify_all()

    def wait(self, condition, seconds=20):
        """Whether `condition` of this reader became true."""
        with self.changed:
            return self.changed.wait_for(lambda: condition(self), seconds)
