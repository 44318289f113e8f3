"""An HTTP/1.1 connection that can pipeline and costs little per request."""

import json
import socket

STORE = "/v1/stores/campaign"
REPLICA = "00000000000000aa"


class Connection:
    """Not thread-safe. Every call throws an OSError when the connection ends."""

    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = self.socket.makefile("rb", buffering=1 << 16)
        self.fields = f"HTTP/1.1\r\nHost: kvsd\r\nAuthorization: Bearer {token}\r\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    def send(self, *requests):
        """Sends requests (method, path, body, media type) without waiting for their answers."""
        parts = []
        for method, path, body, media_type in requests:
            content = "" if body is None else (
                f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n")
            parts += [f"{method} {path} {self.fields}{content}\r\n".encode(), body or b""]
        self.socket.sendall(b"".join(parts))

    def receive(self):
        """Status and JSON of the next answer."""
        status, fields = self.receive_head()
        byte_count = int(fields["content-length"])
        content = self.reader.read(byte_count)
        if len(content) < byte_count:
            raise ConnectionError("the connection was closed")
        return status, json.loads(content)

    def receive_head(self):
        status = int(self.receive_line().split()[1])
        fields = {}
        while line := self.receive_line():
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        return status, fields

    def receive_line(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        return line[:-2].decode()

    def events(self, since):
        """Kind and data of each complete event of a live stream, until a reset ends it."""
        self.send(("GET", f"{STORE}/changes?since={since}", None, None))
        status, _ = self.receive_head()
        assert status == 200, f"the live stream was answered with {status}"
        buffer = b""
        while byte_count := int(self.receive_line(), 16):
            content = self.reader.read(byte_count)
            *events, buffer = (buffer + content).split(b"\n\n")
            for event in events:
                fields = dict(line.split(b": ", 1) for line in event.split(b"\n"))
                if b"event" in fields:
                    yield fields[b"event"].decode(), json.loads(fields[b"data"])
            if len(content) < byte_count:
                raise ConnectionError("the live stream was closed")
            self.receive_line()

    def sync(self, epoch=None, since=None, changes=(), horizon=None):
        body = {"replica": REPLICA, "changes": changes, "horizon": horizon}
        if epoch:
            body |= {"epoch": epoch, "since": since}
        self.send(("POST", f"{STORE}/sync", json.dumps(body).encode(), "application/json"))
        return self.receive()

    def download(self, epoch=None, since=None):
        """The first page, all changes after a cursor, and where they end: epoch and cursor."""
        first, horizon, changes = None, None, []
        while True:
            status, page = self.sync(epoch, since, horizon=horizon)
            assert status == 200, f"a download was answered with {status} {page}"
            first = first or page
            changes += page["changes"]
            epoch, since, horizon = page["epoch"], page["cursor"], page["horizon"]
            if not page["more"]:
                return first, changes, epoch, since
