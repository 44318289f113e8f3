"""A replica in memory, with which a Python program is a device of a store: see docs/protocol.md."""
import base64, json, os, pathlib, plistlib, secrets, time, urllib.request


class Replica:
    def __init__(self, store="default"):
        url, token = os.environ["UBIQUITY_DAEMON"], os.environ["UBIQUITY_TOKEN"]
        if url == "emulator":
            share = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share"
            data = os.environ.get("UBIQUITY_DATA_DIR") or f"{share}/ubiquity"
            url = json.loads(pathlib.Path(data, "emulator.json").read_text())["url"]
        self.url = f"{url}/v1/stores/{store}/sync"
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.id = secrets.token_hex(8)
        self.records, self.pending = {}, {}  # what the daemon has, and what it may lack, by key
        self.cursor, self.offset = {}, 0  # how far the records go, and the daemon's clock is ahead

    def values(self):
        return {key: plistlib.loads(base64.b64decode(record["value"]))
                for key, record in (self.records | self.pending).items() if "value" in record}

    def set(self, key, value):
        data = plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
        self._write({"key": key, "value": base64.b64encode(data).decode()})

    def remove(self, key):
        self._write({"key": key, "deleted": True})

    def _write(self, record):
        now = int(time.time() * 1000) + self.offset
        stamps = [known["stamp"] for known in (self.records | self.pending).values()]
        reading = max([now << 32] + [int(stamp[:12] + stamp[13:21], 16) + 1 for stamp in stamps])
        stamp = f"{reading >> 32:012x}-{reading & 0xFFFFFFFF:08x}-{self.id}"
        self.pending[record["key"]] = {**record, "stamp": stamp}

    def sync(self):
        """Sends what is pending and applies what other devices have written."""
        more = None  # unknown before the first page
        while more is not False or self.pending:
            sent = [] if more else list(self.pending.values())[:1000]
            body = json.dumps({"replica": self.id, "changes": sent, **self.cursor}).encode()
            request = urllib.request.Request(self.url, body, self.headers)
            with urllib.request.urlopen(request, timeout=60) as response:
                page = json.load(response)
            more, rejected = page["more"], {r["key"]: r["reason"] for r in page["rejected"]}
            if more and page["cursor"] <= (0 if page["initial"] else self.cursor.get("since", 0)):
                raise ValueError("the daemon announces more without progress")
            self.offset = page["serverTime"] - int(time.time() * 1000)
            self.cursor = dict(epoch=page["epoch"], since=page["cursor"], horizon=page["horizon"])
            self.records = {} if page["initial"] else self.records
            for record in [r for r in sent if not (more or r["key"] in rejected)] + page["changes"]:
                self.records[record["key"]] = record
                if self.pending.get(record["key"], record)["stamp"] <= record["stamp"]:
                    self.pending.pop(record["key"], None)
            if not set(rejected.values()) <= {"clock", "again"}:
                raise ValueError(f"the daemon refused {rejected}")
            late = [self.pending.pop(key) for key, reason in rejected.items() if reason == "clock"]
            self.id = secrets.token_hex(8) if late else self.id
            for record in late:
                self._write(record)
