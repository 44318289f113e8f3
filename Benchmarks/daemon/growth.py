#!/usr/bin/env python3
"""Measure the CPU cost of requests to kvsd, and with ten times as much data or clients.

For each row two daemons run side by side, one with ten times as many keys, devices, … as the other. Requests are sent
to both in turns, one after another over one connection. The cost is processor time (user and system) of the whole
process; the ratio is the median of the ratios of batches that were sent directly after each other. Files are in memory
if /dev/shm has room. Linux only. Takes about a minute.
"""
import argparse, base64, contextlib, hashlib, json, os, pathlib, shutil, statistics, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../peers"))

from servers import Kvsd, build_release, raise_file_limit  # noqa: E402
from traffic import Connection, Stamps, Traffic, cost  # noqa: E402

parser = argparse.ArgumentParser(
    prog="scripts/benchmark --growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bin", metavar="FOLDER", help="take kvsd from there instead of building it")
parser.add_argument("--quick", action="store_true", help="few requests, to check that everything works")
parser.add_argument("--only", metavar="ROWS", help="comma-separated, for example keys,history")
parser.add_argument("--real-time", action="store_true",
                    help="as root: give daemons and client precedence over all other programs of a busy machine")
options = parser.parse_args()
batches, batch = (2, 5) if options.quick else (31, 40)


class Daemon(Kvsd):
    """A daemon with many devices; the first belongs to the account in which requests are measured."""

    def __init__(self, accounts):
        """- accounts: the account of each device, in order."""
        self.accounts = accounts

    def prepare(self):
        self.data = os.path.join(self.folder, "data")
        os.makedirs(self.data, mode=0o700)
        self.tokens = [f"ubq_{index:043}" for index in range(len(self.accounts))]
        devices = [{
            "id": f"{index + 1:016x}", "name": f"device-{index}", "account": account, "scopes": ["read", "write"],
            "created": 0, "tokenSHA256": list(hashlib.sha256(token.encode()).digest()),
        } for index, (account, token) in enumerate(zip(self.accounts, self.tokens))]
        pathlib.Path(self.data, "devices.json").write_text(
            json.dumps({"version": 1, "instance": f"{1:016x}", "devices": devices}))

    def processor_seconds(self):
        # The clock of another process (clock_getcpuclockid): nanoseconds, exact once its threads rest.
        time.sleep(0.001)
        return time.clock_gettime(~self.process.pid << 3 | 2)


def changes(names):
    stamps, value = Stamps(), base64.b64encode(bytes(100)).decode()
    all = [{"key": name, "stamp": stamps.next(), "value": value} for name in names]
    return [all[start:start + 1000] for start in range(0, len(all), 1000)]


class Size:
    """A daemon that holds `count` of something besides what is measured."""

    def __init__(self, count):
        self.count, self.accounts = count, ["one"]

    def fill(self, daemon): pass

    def sync(self, daemon, stores, names, token=0):
        connection = Connection(daemon.port, daemon.tokens[token])
        for store in stores:
            for part in changes(names):
                connection.sync(store, part)
        connection.close()


class Keys(Size):
    name, small = "keys of the store", 390

    def fill(self, daemon):
        self.sync(daemon, ["measured"], [f"filled-{index}" for index in range(self.count)])


class History(Size):
    name, small = "changes of the store so far", 20_000

    def fill(self, daemon):
        self.sync(daemon, ["measured"], [f"filled-{index % 64}" for index in range(self.count)])


class Stores(Size):
    name, small = "stores of the account", 80

    def fill(self, daemon):
        self.sync(daemon, [f"filled-{index}" for index in range(self.count)], ["key"])


class Devices(Size):
    name, small = "devices of the account", 99

    def __init__(self, count):
        super().__init__(count)
        self.accounts = ["one"] * (count + 1)

    def fill(self, daemon):
        for index in range(1, self.count + 1):
            self.sync(daemon, ["measured"], ["key"], index)


class Accounts(Size):
    name, small = "accounts with ten stores each", 99

    def __init__(self, count):
        super().__init__(count)
        self.accounts = ["one"] + [f"account-{index}" for index in range(count)]

    def fill(self, daemon):
        for index in range(1, self.count + 1):
            self.sync(daemon, [f"filled-{number}" for number in range(10)], ["key"], index)


class Watchers(Size):
    name, small = "watchers of another store", 100

    def fill(self, daemon):
        self.sync(daemon, ["watched"], ["key"])
        daemon.watchers = [Connection(daemon.port, daemon.tokens[0]) for _ in range(self.count)]
        for watcher in daemon.watchers:
            watcher.watch("watched", 1)


sizes = {kind.__name__.lower(): kind for kind in [Keys, Devices, Accounts, Stores, History, Watchers]}
operations = {
    "put": "put 4 KB", "get": "get 4 KB", "sync": "sync one change", "event": "put, watched", "stream": "open a stream",
    "new_store": "put, new store"}


def measure(kind, small, folder):
    """The costs of each operation in microseconds, at the one size and at ten times of it."""
    costs = {operation: ([], []) for operation in operations}
    with contextlib.ExitStack() as stack:
        daemons = []
        for count in (small, 10 * small):
            size = kind(count)
            daemon = Daemon(size.accounts)
            stack.enter_context(daemon.running(f"{folder}/{kind.__name__}-{count}"))
            size.fill(daemon)
            daemons.append(daemon)
        # Only now: a connection without a request is closed after 5 s.
        pair = [(daemon, Traffic(daemon.port, daemon.tokens[0])) for daemon in daemons]
        for index in range(batches):
            for operation in operations:
                # New stores become part of the size, so they are few.
                count = max(1, batch // 10) if operation == "new_store" else batch
                turns = list(zip(pair, costs[operation]))
                for (daemon, traffic), samples in turns if index % 2 else reversed(turns):
                    samples.append(cost(getattr(traffic, operation)(), count, daemon.processor_seconds) * 1e6)
    return costs


def cell(small, large):
    ratio = statistics.median(after / before for before, after in zip(small, large))
    return f"{statistics.median(small):.0f} → {statistics.median(large):.0f}; {ratio:.2f}×"


def main():
    chosen = options.only.split(",") if options.only else list(sizes)
    if unknown := set(chosen) - set(sizes):
        parser.error("unknown: " + ", ".join(sorted(unknown)) + "; there are " + ",".join(sizes))
    Kvsd.directory = os.path.abspath(options.bin or build_release("kvsd"))
    raise_file_limit()
    if options.real_time:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # the daemons inherit it
    print("| µs of CPU; ratio | " + " | ".join(operations.values()) + " |")
    print("|---|" + "--:|" * len(operations), flush=True)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 1 << 30 else None
    with tempfile.TemporaryDirectory(prefix="growth-", dir=memory) as folder:
        for kind in (sizes[name] for name in chosen):
            small = kind.small // 10 if options.quick else kind.small
            cells = [cell(*pair) for pair in measure(kind, small, folder).values()]
            print(f"| {kind.name}: {small:,} → {10 * small:,} | " + " | ".join(cells) + " |", flush=True)


main()
