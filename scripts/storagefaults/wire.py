"""What a client of the daemon says and hears."""

import base64
import http.client
import json
import threading
import time


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The stable code of a problem document; None for everything else."""
        if self.headers.get("Content-Type") != "application/problem+json":
            return None
        return self.json["code"]

    def __str__(self):
        return f"{self.status} {self.code or ''}"


class Client:
    """One token at one daemon; a connection for each request, so that none is left half used."""

    def __init__(self, port, token, store="faults", timeout=40):
        self.port, self.token, self.store, self.timeout = port, token, store, timeout

    def request(self, method, path, body=None, type="application/octet-stream", accept="*/*"):
        """The answer; OSError or HTTPException when there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept}
        if body is not None:
            headers["Content-Type"] = type
        try:
            while True:
                connection.request(method, path, body=body, headers=headers)
                response = connection.getresponse()
                answer = Answer(response.status, response.headers, response.read())
                if answer.status != 429:
                    return answer
                time.sleep(0.2)
        finally:
            connection.close()

    def put(self, key, value):
        return self.request("PUT", f"/v1/stores/{self.store}/keys/{key}", value)

    def delete(self, key):
        return self.request("DELETE", f"/v1/stores/{self.store}/keys/{key}")

    def get(self, key):
        return self.request(
            "GET", f"/v1/stores/{self.store}/keys/{key}", accept="application/octet-stream")

    def health(self, path="/healthz"):
        return self.request("GET", path)

    def sync(self, epoch=None, since=0, changes=(), horizon=None):
        message = {"replica": "00000000000000aa", "epoch": epoch, "since": since,
                   "horizon": horizon, "changes": list(changes)}
        return self.request(
            "POST", f"/v1/stores/{self.store}/sync", json.dumps(message), "application/json")

    def everything(self):
        """epoch, cursor and {key: (sequence number, value or None)}; None for an unknown store."""
        epoch, since, horizon, found = None, 0, None, {}
        while True:
            answer = self.sync(epoch, since, horizon=horizon)
            assert answer.status == 200, f"a full download was answered {answer}"
            page = answer.json
            for change in page["changes"]:
                value = None if change.get("deleted") else base64.b64decode(change["value"])
                found[change["key"]] = (change["seq"], value)
            epoch, since, horizon = page["epoch"], page["cursor"], page.get("horizon")
            if not page["more"]:
                return epoch, since, found


class EventReader:
    """A live stream, read by a thread; what it was told stays in `told`.

    After a reset it comes back, as often as `returns` says: a new part of the history has begun.
    """

    def __init__(self, client, since=0, returns=3):
        self.client, self.since, self.returns = client, since, returns
        self.told, self.kinds, self.heartbeats, self.is_over = [], [], 0, False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            self.follow()
            while self.kinds and self.kinds[-1] == "reset" and self.returns:
                self.returns -= 1
                self.since = self.told[-1][0] if self.told else 0
                self.follow()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            with self.changed:
                self.is_over = True
                self.changed.notify_all()

    def follow(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.client.port, timeout=60)
        try:
            connection.request(
                "GET", f"/v1/stores/{self.client.store}/changes?since={self.since}",
                headers={"Authorization": f"Bearer {self.client.token}"})
            response = connection.getresponse()
            kind = None
            while line := response.readline():
                text = line.decode().rstrip("\n")
                with self.changed:
                    if text.startswith(":"):
                        self.heartbeats += 1
                    elif text.startswith("event: "):
                        kind = text[7:]
                        self.kinds.append(kind)
                    elif text.startswith("data: ") and kind == "change":
                        change = json.loads(text[6:])
                        value = (None if change.get("deleted")
                                 else base64.b64decode(change["value"]))
                        self.told.append((change["seq"], change["key"], value))
                    self.changed.notify_all()
        finally:
            connection.close()

    def wait(self, condition, seconds=20):
        """Whether `condition` of this reader became true."""
        with self.changed:
            return self.changed.wait_for(lambda: condition(self), seconds)
