#!/usr/bin/env python3
"""Measure kvsd beside Redis, PostgreSQL, etcd and NATS on this machine: durable puts, watchers, memory, start of programs.

Builds the release programs and one C client that drives all servers over loopback. docs/performance.md says how the
figures come about. Missing servers are installed with apt-get if root runs it, and left out otherwise. Takes about ten minutes.
"""
import argparse, contextlib, json, os, shutil, signal, statistics, subprocess, sys, tempfile, time

from servers import (
    Kvsd, Redis, add_options, build_programs, build_release, figure, print_rows, raise_file_limit, root, run, servers)

parser = argparse.ArgumentParser(
    prog="scripts/benchmark --peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
add_options(parser, "interleaved rounds (default 3)")
parser.add_argument("--only", metavar="NAMES", help="comma-separated: " + ",".join(s.protocol for s in servers))
options = parser.parse_args()
if options.rounds < 1:
    parser.error("--rounds is at least 1")
names = options.only.split(",") if options.only else [s.protocol for s in servers]
if unknown := set(names) - {s.protocol for s in servers}:
    parser.error("unknown: " + ", ".join(sorted(unknown)))
rounds = 1 if options.quick else options.rounds
seconds, warmup = (0.3, 0.1) if options.quick else (3, 0.5)
watch_rounds = {1: 50, 1000: 5} if options.quick else {1: 1000, 1000: 50}
first_puts = 2000 if options.quick else 20_000
connections = [1, 16, 64]


def note(text):
    print(text, file=sys.stderr, flush=True)


def install(chosen):
    """Installs what is missing if it can; returns the servers that can be run."""
    missing = [s for s in chosen if s is not Kvsd and not s.path()]
    command = ["apt-get", "install", "-y", "--no-install-recommends", *(s.package for s in missing)]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        note("Installing " + " ".join(s.package for s in missing) + " with apt-get …")
        for attempt in [command, ["apt-get", "update", "-q"], command]:
            done = subprocess.run(attempt, stdout=sys.stderr, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
            if attempt is command and done.returncode == 0:
                break
    if left_out := [s for s in missing if not s.path()]:
        note("Left out, because not installed: " + ", ".join(s.name for s in left_out) + ". To install:\n  sudo "
             + " ".join([*command[:-len(missing)], *(s.package for s in left_out)]))
    return [s for s in chosen if s not in left_out]


def build(work):
    Kvsd.directory = os.path.abspath(options.bin or build_release("kvsd", "kvs", "usage-view"))
    build_programs(work, limits=["limits"])


class Results:
    """Samples by row and column."""

    def __init__(self):
        self.rows = {}

    def add(self, row, column, value):
        self.rows.setdefault(row, {}).setdefault(column, []).append(value)


def client(work, server, mode, *arguments):
    return [f"{work}/client", mode, server.protocol, "--port", str(server.port), *server.client_arguments,
            *map(str, arguments)]


def measure_syncs(work, server, results):
    """With one connection, each put needs a sync of its own."""
    count, trace = 200, f"{work}/trace"
    processes = [text for pid in server.processes() for text in ("-p", str(pid))]
    with subprocess.Popen(
            ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", trace, *processes],
            stderr=subprocess.DEVNULL) as tracer:
        try:
            time.sleep(1)  # it attaches
            if tracer.poll() is not None:
                return note("strace may not attach to processes here.")
            run(*client(work, server, "put", "--puts", count))
        finally:
            tracer.send_signal(signal.SIGINT)
    with open(trace) as lines:
        syncs = sum("sync(" in line for line in lines)
    results.add("syncs per put, 1 connection", server.name, syncs / count)


def measure_memory(work, server, results):
    """In two lives: one that takes puts, and one that is watched."""
    folder = f"{work}/{server.protocol}"
    with server.running(folder):
        results.add("memory after start, MB", server.name, server.memory() / 1e6)
        run(*client(work, server, "put", "--connections", 16, "--puts", first_puts))
        results.add(f"memory after {first_puts:,} puts, MB", server.name, server.memory() / 1e6)
        if shutil.which("strace"):
            measure_syncs(work, server, results)
    with server.running(folder), contextlib.ExitStack() as stack:

        def watch(count):
            process = subprocess.Popen(
                client(work, server, "idle", "--watchers", count), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            stack.callback(process.wait)
            stack.callback(process.stdin.close)
            if not process.stdout.readline():
                sys.exit(f"watchers of {server.name} failed")
            time.sleep(0.5)
            return server.memory()

        # The first watchers pay for what all share.
        before = watch(100)
        results.add("memory per idle watcher, KB", server.name, (watch(1000) - before) / 1000 / 1e3)


def measure_speed(work, running, results):
    tasks = [("put", count) for count in connections] + [("watch", count) for count in watch_rounds]
    for index in range(rounds):
        note(f"Round {index + 1} of {rounds}; load {os.getloadavg()[0]:.1f} …")
        for mode, count in tasks:
            # Each round begins with another server.
            for server in running[index % len(running):] + running[:index % len(running)]:
                if mode == "put":
                    connected = "1 connection" if count == 1 else f"{count} connections"
                    before = server.processor_seconds()
                    result = run(*client(
                        work, server, mode, "--connections", count, "--seconds", seconds, "--warmup", warmup))
                    results.add(f"puts/s, {connected}", server.name, result["puts_per_second"])
                    results.add(f"put p99, {connected}, ms", server.name, result["p99_us"] / 1e3)
                    if count == connections[-1]:
                        time.sleep(0.1)  # the processes of PostgreSQL's connections end
                        spent = server.processor_seconds() - before
                        results.add("server's CPU per put, µs", server.name, spent * 1e6 / result["operations"])
                        results.add("client's CPU per put, µs", server.name, result["client_us_per_operation"])
                else:
                    result = run(*client(
                        work, server, mode, "--watchers", count, "--rounds", watch_rounds[count]))
                    label = "put → watcher" if count == 1 else f"put → last of {count:,} watchers"
                    results.add(f"{label}, p50, ms", server.name, result["p50_us"] / 1e3)
                    results.add(f"{label}, p99, ms", server.name, result["p99_us"] / 1e3)
            results.add("load average", "", os.getloadavg()[0])
        for mode, label in [("append", "append 4 KB + fdatasync"), ("overwrite", "overwrite 4 KB + fdatasync")]:
            result = run(f"{work}/limits", mode, f"{work}/block", str(seconds))
            results.add(f"{label}, p50, ms", "", result["p50_us"] / 1e3)
            results.add(f"{label}, per second", "", result["per_second"])
        result = run(f"{work}/limits", "ping-pong", str(seconds))
        results.add("4 KB there and back over loopback, p50, ms", "", result["p50_us"] / 1e3)


def measure_programs(work, redis, results):
    os.environ.update(UBIQUITY_DATA_DIR=f"{work}/replica", UBIQUITY_CONFIG_DIR=f"{work}/configuration")
    kvs, view = (os.path.join(Kvsd.directory, name) for name in ["kvs", "usage-view"])
    snapshot = os.path.join(root, "fixtures/snapshot/busy-laptop.json")
    subprocess.run([kvs, "set", "com.codexbar.usage.snapshot", "--data-file", snapshot, "--no-sync"], check=True)
    subprocess.run([kvs, "set", "greeting", "hello", "--no-sync"], check=True)
    commands = {
        "kvs get": [kvs, "get", "greeting", "--no-sync"], "usage-view": [view, "--timeout", "0"],
        "kvs --version": [kvs, "--version"]}
    if redis and shutil.which("redis-cli"):
        commands["redis-cli get"] = ["redis-cli", "-p", str(redis.port), "get", "k0000000"]
    commands["true"] = ["true"]
    for _ in range(rounds):
        for label, command in commands.items():
            count = 5 if options.quick else 60
            results.add(f"`{label}`, ms", "", run(f"{work}/limits", "process", str(count), *command)["p50_us"] / 1e3)


def measure_sizes(work, results):
    for path in [os.path.join(Kvsd.directory, name) for name in ["kvsd", "kvs", "usage-view"]] + [Redis.path()]:
        if path:
            subprocess.run(["strip", "-o", f"{work}/stripped", path], check=True)
            results.add(f"`{os.path.basename(path)}` stripped, MB", "", os.path.getsize(f"{work}/stripped") / 1e6)


def print_table(results, columns):
    wide = {row: cells for row, cells in results.rows.items() if "" not in cells}
    narrow = {row: cells[""] for row, cells in results.rows.items() if "" in cells}
    print("| median (lowest–highest); ratio to Redis | " + " | ".join(columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for row, cells in wide.items():
        base = statistics.median(cells["Redis"]) if "Redis" in cells else None
        texts = []
        for column in columns:
            median = statistics.median(cells[column])
            text = figure(median)
            if len(cells[column]) > 1:
                text += f" ({figure(min(cells[column]))}–{figure(max(cells[column]))})"
            texts.append(text + (f"; {median / base:.2f}×" if base and column != "Redis" else ""))
        print(f"| {row} | " + " | ".join(texts) + " |")
    print()
    print_rows("this machine, these programs", narrow)


def main():
    chosen = install([s for s in servers if s.protocol in names])
    raise_file_limit()
    results = Results()
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory(prefix="peers-", dir=options.folder))
        os.chmod(work, 0o755)  # PostgreSQL runs as a user of its own
        build(work)
        if options.real_time:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # servers and clients inherit it
        running = [server() for server in chosen]
        for server in running:
            note(f"Memory of {server.name} {server.version()} …")
            measure_memory(work, server, results)
        for server in running:
            stack.enter_context(server.running(f"{work}/{server.protocol}"))
        measure_speed(work, running, results)
        note("Programs …")
        measure_programs(work, next((s for s in running if isinstance(s, Redis)), None), results)
        measure_sizes(work, results)
    versions = {server.name: server.version() for server in running}
    if options.json:
        print(json.dumps({"versions": versions, "cores": os.cpu_count(), "rounds": rounds, "samples": results.rows}, indent=1))
        return
    print(f"{os.cpu_count()} cores; rounds: {rounds}; " + ", ".join(f"{name} {text}" for name, text in versions.items()))
    for server in running:
        if server.caveat:
            print(f"{server.name} {server.caveat}.")
    print()
    print_table(results, [server.name for server in running])


def end(number, _):
    for other in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(other, signal.SIG_IGN)  # everything is stopped and removed first
    sys.exit(128 + number)


signal.signal(signal.SIGINT, end)
signal.signal(signal.SIGTERM, end)
main()
