#!/usr/bin/env python3
"""Measure kvsd on PostgreSQL beside PostgreSQL itself: durable puts, what a second node costs, watchers on two nodes.

Needs PostgreSQL and libpq, as scripts/bootstrap --tests installs them. All run on loopback, driven by the client of
scripts/benchmark --peers. docs/performance.md says how the figures come about.
"""
import argparse, contextlib, json, os, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True

from servers import Kvsd, PostgreSQL, add_options, build_programs, print_rows, raise_file_limit, root, run

parser = argparse.ArgumentParser(
    prog="scripts/benchmark --nodes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
add_options(parser, "(default 3)")
parser.add_argument("--watchers", type=int, default=10_000, metavar="COUNT", help="on both nodes together (default 10,000)")
parser.add_argument("--connections", metavar="COUNT", help="the setting database-connections of the nodes")
parser.add_argument("--pin", action="store_true",
                    help="a core for PostgreSQL, and one for nodes and client, as on machines of their own")
options = parser.parse_args()
seconds, warmup = (0.3, 0.1) if options.quick else (3, 0.5)
watcher_count = min(options.watchers, 200) if options.quick else options.watchers
samples = {}


def on_core(number):
    return ["taskset", "-c", str(number)] if options.pin else []


class Database(PostgreSQL):
    def command(self):
        return on_core(0) + super().command()


class Node(Kvsd):
    def __init__(self, database, token=None):
        """Adds a device, unless `token` is that of one that another node has added."""
        self.database = ["--database", f"postgres://postgres@127.0.0.1:{database.port}/postgres"]
        self.known_token = token

    def add_device(self):
        return self.known_token or super().add_device()

    def command(self):
        setting = ["--set", f"database-connections={options.connections}"] if options.connections else []
        return on_core(1) + super().command() + setting


def add(row, value):
    samples.setdefault(row, []).append(value)


def client(work, *arguments):
    return run(*on_core(1), f"{work}/client", *arguments)


def measure_puts(work, label, protocol, server, count, database, size=1):
    """- size: puts of one request."""
    before = [each.processor_seconds() for each in (server, database)]
    result = client(work, "put", protocol, "--port", server.port, *server.client_arguments,
                    "--connections", count, "--seconds", seconds, "--warmup", warmup)
    time.sleep(0.1)  # the processes of PostgreSQL's connections end
    spent = [each.processor_seconds() - start for each, start in zip((server, database), before)]
    puts = result["operations"] * size
    add(f"{label}: puts/s", result["puts_per_second"] * size)
    add(f"{label}: p50, ms", result["p50_us"] / 1e3)
    add(f"{label}: CPU of PostgreSQL per put, µs", spent[1] * 1e6 / puts)
    if server is not database:
        add(f"{label}: CPU of kvsd per put, µs", spent[0] * 1e6 / puts)


def measure_watchers(work, writer, reader, count, rounds):
    result = client(work, "watch", "kvsd", "--port", writer.port, "--watch-port", reader.port,
                    *writer.client_arguments, "--watchers", count, "--rounds", rounds)
    label = "put → watcher on another node" if count == 1 else f"put → last of {count:,} watchers on two nodes"
    add(f"{label}: p50, ms", result["p50_us"] / 1e3)
    add(f"{label}: p99, ms", result["p99_us"] / 1e3)


def main():
    raise_file_limit()
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory(prefix="nodes-", dir=options.folder))
        os.chmod(work, 0o755)  # PostgreSQL runs as a user of its own
        Kvsd.directory = os.path.abspath(options.bin or subprocess.run(
            [os.path.join(root, "scripts/build-tests"), "--optimized", "kvsd"], check=True, stdout=subprocess.PIPE,
            text=True).stdout.strip())
        build_programs(work)
        if options.real_time:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # servers and clients inherit it
        database = Database()
        stack.enter_context(database.running(f"{work}/postgresql"))
        node = Node(database)
        stack.enter_context(node.running(f"{work}/node"))
        for index in range(1 if options.quick else options.rounds):
            print(f"Round {index + 1}; load {os.getloadavg()[0]:.1f} …", file=sys.stderr, flush=True)
            for count in [1, 16, 64]:
                measure_puts(work, f"PostgreSQL, {count} clients", "postgresql", database, count, database)
                # As many puts under way at a time.
                if count > 1:
                    measure_puts(work, f"PostgreSQL, {count // 16} clients with 16 puts per transaction",
                                 "postgresql-groups", database, count // 16, database, size=16)
                measure_puts(work, f"kvsd, {count} clients", "kvsd", node, count, database)
            other = Node(database, node.token)
            with other.running(f"{work}/other"):
                measure_puts(work, "kvsd beside a second node, 64 clients", "kvsd", node, 64, database)
                measure_watchers(work, node, other, 1, 50 if options.quick else 1000)
                measure_watchers(work, node, other, watcher_count, 3 if options.quick else 20)
    if options.json:
        return print(json.dumps({"cores": os.cpu_count(), "samples": samples}, indent=1))
    print_rows("", samples)


main()
