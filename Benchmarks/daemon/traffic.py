"""A client of one connection, which sends the requests that are measured one after another."""
import base64, json, socket


class Connection:
    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.token = token
        self.received = b""

    def close(self):
        self.socket.close()

    def send(self, method, path, body=b"", type="application/json"):
        length = f"Content-Type: {type}\r\nContent-Length: {len(body)}\r\n" if method in ("PUT", "POST") else ""
        self.socket.sendall((
            f"{method} /v1/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n"
            f"{length}\r\n").encode() + body)

    def read_until(self, text):
        """Everything up to the end of `text`."""
        while (found := self.received.find(text)) < 0:
            if not (more := self.socket.recv(1 << 20)):
                raise SystemExit(f"kvsd closed the connection: {self.received[:300].decode()}")
            self.received += more
        end = found + len(text)
        taken, self.received = self.received[:end], self.received[end:]
        return taken

    def read_head(self):
        head = self.read_until(b"\r\n\r\n").lower()
        if not head.startswith(b"http/1.1 200 "):
            raise SystemExit(f"kvsd: {(head + self.received).decode()}")
        return head

    def request(self, *arguments):
        """Sends a request and returns the body of its answer."""
        self.send(*arguments)
        count = int(self.read_head().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(self.received) < count:
            self.received += self.socket.recv(1 << 20)
        body, self.received = self.received[:count], self.received[count:]
        return body

    def put(self, store, key, value):
        return json.loads(self.request("PUT", f"stores/{store}/keys/{key}", value, "application/octet-stream"))["seq"]

    def get(self, store, key):
        return self.request("GET", f"stores/{store}/keys/{key}")

    def sync(self, store, changes, since=None):
        """Pushes changes; `since` is the answer of the sync before."""
        document = {"replica": f"{1:016x}", "changes": changes}
        if since:
            document |= {"epoch": since["epoch"], "since": since["cursor"]}
        answer = json.loads(self.request("POST", f"stores/{store}/sync", json.dumps(document).encode()))
        if answer["rejected"]:
            raise SystemExit(f"kvsd: {answer['rejected'][0]}")
        return answer

    def watch(self, store, since):
        """Opens a live stream after a sequence number; no request can follow."""
        self.send("GET", f"stores/{store}/changes?since={since}")
        self.read_head()
        self.read_until(b"event: opened\n")
        self.read_until(b"\n\n")

    def read_event(self):
        self.read_until(b"event: change\n")
        self.read_until(b"\n\n")


class Stamps:
    """The stamps of a replica whose clock is far behind that of the daemon."""

    def __init__(self):
        self.counter = 0

    def next(self):
        self.counter += 1
        return f"{self.counter:012x}-{0:08x}-{1:016x}"


class Traffic:
    """Endless requests for one store. Each method is a generator that prepares, and then performs one request at every
    step: for one of 64 keys, with a value that was never sent before."""

    def __init__(self, port, token, store="measured"):
        self.port, self.token, self.store = port, token, store
        self.connection = Connection(port, token)
        self.stamps = Stamps()
        self.count = 0

    def next(self):
        self.count += 1
        return f"key-{self.count % 64}", self.count.to_bytes(8, "big") * 512

    def put(self):
        while True:
            yield
            self.connection.put(self.store, *self.next())

    def get(self):
        key, value = self.next()
        self.connection.put(self.store, key, value)
        while True:
            yield
            self.connection.get(self.store, key)

    def sync(self):
        """One change in JSON from a replica that has everything else."""
        answer = {"more": True}
        since = None
        while answer["more"]:
            answer = since = self.connection.sync(self.store, [], since)
        while True:
            key, value = self.next()
            change = {
                "key": f"synced-{key}", "stamp": self.stamps.next(), "value": base64.b64encode(value).decode()}
            yield
            since = self.connection.sync(self.store, [change], since)

    def event(self):
        """A put and its event on the live stream of another connection."""
        watcher = Connection(self.port, self.token)
        try:
            watcher.watch(self.store, self.connection.put(self.store, *self.next()))
            while True:
                yield
                self.connection.put(self.store, *self.next())
                watcher.read_event()
        finally:
            watcher.close()

    def stream(self):
        """A live stream on a connection of its own, opened and closed."""
        sequence = self.connection.put(self.store, *self.next())
        while True:
            yield
            watcher = Connection(self.port, self.token)
            watcher.watch(self.store, sequence)
            watcher.close()

    def new_store(self):
        while True:
            yield
            self.connection.put(f"new-{self.count}", *self.next())


def cost(operation, count, read):
    """The mean increase of a counter per step, over `count` steps of an operation; `read` returns the counter."""
    next(operation)
    next(operation)  # the first one is not typical
    before = read()
    for _ in range(count):
        next(operation)
    spent = read() - before
    operation.close()
    return spent / count
