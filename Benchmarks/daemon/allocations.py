#!/usr/bin/env python3
"""Count the allocations of kvsd per request and compare them with Benchmarks/daemon/thresholds.json.

Each kind of request is sent a thousand times over one connection, one after another; timing changes the mean by less
than one allocation. Linux with glibc only. Exits with 1 if a count exceeds its threshold: then allocate less, or raise
the threshold and give the reason in the commit.
"""
import argparse, json, mmap, os, struct, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, "../peers"))

from traffic import Traffic, cost  # noqa: E402
from servers import Kvsd, build_release, compiler  # noqa: E402

parser = argparse.ArgumentParser(
    prog="scripts/benchmark --allocations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bin", metavar="FOLDER", help="take kvsd from there instead of building it")
parser.add_argument("--unoptimized", action="store_true", help="compare with the thresholds of a build for tests")
parser.add_argument("--requests", type=int, default=1000, metavar="COUNT", help="of each kind (default 1000)")
options = parser.parse_args()

routes = {
    "put": "PUT /v1/stores/…/keys/…, 4 KB of bytes", "get": "GET /v1/stores/…/keys/…",
    "sync": "POST /v1/stores/…/sync with one change", "event": "GET /v1/stores/…/changes, an event for one watcher"}


def count(folder):
    """The allocations per request by kind."""
    shim, path = f"{folder}/allocations.so", f"{folder}/count"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fno-builtin", "-o", shim, f"{here}/allocations.c"],
        check=True)
    with open(path, "w+b") as file:
        file.truncate(mmap.PAGESIZE)
        with mmap.mmap(file.fileno(), mmap.PAGESIZE) as shared:
            server = Kvsd()
            server.environment = {"LD_PRELOAD": shim, "ALLOCATION_COUNT": path}
            with server.running(f"{folder}/kvsd"):
                traffic = Traffic(server.port, server.token)
                counts = {
                    kind: cost(getattr(traffic, kind)(), options.requests, lambda: struct.unpack_from("q", shared)[0])
                    for kind in routes}
    if not all(counts.values()):
        sys.exit("No allocations were counted: LD_PRELOAD and glibc are required.")
    counts["event"] -= counts["put"]
    return counts


def main():
    Kvsd.directory = os.path.abspath(options.bin or build_release("kvsd"))
    with open(f"{here}/thresholds.json") as file:
        thresholds = json.load(file)["unoptimized" if options.unoptimized else "optimized"]
    with tempfile.TemporaryDirectory(prefix="allocations-") as folder:
        counts = count(folder)
    print("| request | allocations | threshold |\n|---|--:|--:|")
    for kind, route in routes.items():
        print(f"| {route} | {counts[kind]:.1f} | {thresholds[kind]} |")
    exceeded = [kind for kind in routes if counts[kind] > thresholds[kind]]
    for kind in exceeded:
        print(f"{routes[kind]}: {counts[kind]:.1f} allocations, the threshold is {thresholds[kind]}", file=sys.stderr)
    return 1 if exceeded else 0


sys.exit(main())
