#!/usr/bin/env python3
"""Measure the memory of kvsd with open pages.

A page is two connections that make a page's requests: one loads the files, who it is and the cards, and stays open;
the other follows the store. Each page is another device. Ten pages come and go before, so that only what pages cost is
counted; then 100 open, five pushes reach all of them, and all close. Linux only.
"""
import argparse, hashlib, json, os, pathlib, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../peers"))

from servers import Kvsd, build_release  # noqa: E402
from traffic import Connection  # noqa: E402

parser = argparse.ArgumentParser(
    prog="scripts/benchmark --pages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bin", metavar="FOLDER", help="take kvsd from there instead of building it")
parser.add_argument("--pages", type=int, default=100, metavar="COUNT", help="default 100")
options = parser.parse_args()

KEY = "com.codexbar.usage.snapshot.desk"


def snapshot(percent):
    now = time.time()

    def stamp(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + seconds))

    accounts = [{
        "providerID": f"tool-{number}", "providerName": f"Tool {number}", "accountEmail": "dev@example.test",
        "isError": False, "lastUpdated": stamp(-60), "rateWindows": [
            {"usedPercent": percent + number, "windowMinutes": minutes, "resetsAt": stamp(minutes * 30)}
            for minutes in (300, 10_080)]} for number in range(4)]
    return json.dumps({
        "deviceName": "desk", "deviceID": "desk", "syncTimestamp": stamp(0), "providers": accounts}).encode()


class Daemon(Kvsd):
    def prepare(self):
        self.data = os.path.join(self.folder, "data")
        os.makedirs(self.data, mode=0o700)
        self.tokens = [f"ubq_{index:043}" for index in range(1 + options.pages)]
        pathlib.Path(self.data, "devices.json").write_text(json.dumps({
            "version": 1, "instance": f"{1:016x}", "devices": [{
                "id": f"{index + 1:016x}", "name": f"device-{index}", "account": "one",
                "scopes": ["read"] if index else ["read", "write"], "created": 0,
                "tokenSHA256": list(hashlib.sha256(token.encode()).digest()),
            } for index, token in enumerate(self.tokens)]}))

    def command(self):
        return [self.path(), "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"]


class Page:
    def __init__(self, port, token):
        self.requests, self.stream = Connection(port, token), Connection(port, token)
        for path in ("", "page/page.css", "page/start.js"):
            self.get("/" + path, "Accept-Encoding: gzip, deflate, br, zstd\r\n")
        self.get("/v1/me")
        self.load()
        self.send(self.stream, "/v1/stores/default/changes?values=false", "Accept: text/event-stream\r\n")
        self.stream.read_head()
        self.stream.read_until(b"event: opened\n")
        self.stream.read_until(KEY.encode())
        self.stream.read_until(b"\n\n")

    @staticmethod
    def send(connection, path, fields=""):
        connection.socket.sendall((
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {connection.token}\r\n"
            f"{fields}\r\n").encode())

    def get(self, path, fields=""):
        self.send(self.requests, path, fields)
        count = int(self.requests.read_head().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(self.requests.received) < count:
            self.requests.received += self.requests.socket.recv(1 << 20)
        self.requests.received = self.requests.received[count:]

    def load(self):
        self.get("/v1/usage?format=cards&zone=%2B00:00", "Accept-Encoding: gzip, deflate, br, zstd\r\n")

    def follow(self):
        self.stream.read_event()
        self.load()

    def close(self):
        self.requests.close()
        self.stream.close()


def settled(daemon):
    """Bytes of resident memory, once the daemon has done what it was asked."""
    values = []
    while len(values) < 5 or len(set(values[-5:])) > 1:
        values.append(daemon.memory())
        time.sleep(0.1)
    return values[-1]


def main():
    Kvsd.directory = os.path.abspath(options.bin or build_release("kvsd"))
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        daemon = Daemon()
        with daemon.running(os.path.join(folder, "kvsd")):
            pusher = Connection(daemon.port, daemon.tokens[0])
            pusher.put("default", KEY, snapshot(10))
            start = daemon.memory()
            for token in daemon.tokens[1:11]:
                Page(daemon.port, token).close()
            before = settled(daemon)
            print(f"{start / 1e6:.2f} MB after the start; {before / 1e6:.2f} MB after 10 pages came and went")

            def show(what):
                growth = settled(daemon) - before
                print(f"{growth / 1e6:+.2f} MB {what}: {growth / 1e3 / options.pages:.1f} KB a page", flush=True)

            pages = [Page(daemon.port, token) for token in daemon.tokens[1:]]
            show(f"with {options.pages} open pages")
            for percent in range(5):
                pusher.put("default", KEY, snapshot(20 + percent))
                for page in pages:
                    page.follow()
            show("after 5 pushes to all of them")
            for page in pages:
                page.close()
            show("after all have closed")


main()
