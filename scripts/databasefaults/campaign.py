"""All faults in rounds, and the table of what became of the writes."""

import collections
import random
import time
import traceback

from storagefaults.programs import NotRun, Programs

from . import faults, special
from .cluster import Cluster
from .load import compare, violations
from .servers import PostgreSQL, Violation, pgbouncer

POOLED = ("backends-terminated", "postmaster-killed", "wires-cut", "answers-lost", "node-killed",
          "statement-timeout")


def names():
    return [*faults.CHEAP, *faults.EXPENSIVE, "pooled", *special.CASES]


class Row:
    def __init__(self, name):
        self.name = name
        self.rounds = self.hits = 0
        self.seconds = self.recovery = self.lag = 0.0
        self.counts, self.violations, self.notes = collections.Counter(), [], []
        self.not_run = None

    def violate(self, text):
        self.violations.append(text)
        print(f"  VIOLATION {self.name}: {text}", flush=True)


class Campaign:
    def __init__(self, binaries, work, seed, only):
        self.programs = Programs(binaries, work)
        self.seed, self.only = seed, only
        self.random = random.Random(seed)
        self.postgres = None
        self.rows, self.stages, self.failed = {}, {}, False

    def wants(self, name):
        return not self.only or name in self.only

    def server(self):
        if not self.postgres:
            self.postgres = PostgreSQL(self.programs, self.programs.work / "postgres").start()
            self.postgres.make_role()
        return self.postgres

    def stage(self, is_pooled):
        if is_pooled not in self.stages:
            name = "pooled" if is_pooled else "direct"
            self.server().make_database(name)
            pooler = (pgbouncer(self.programs, self.programs.work / "pgbouncer",
                                self.postgres.port).start() if is_pooled else None)
            self.stages[is_pooled] = special.Scenery(
                Cluster(self.programs, self.postgres, name, pooler=pooler), self.seed)
        return self.stages[is_pooled]

    def run(self, rounds, long_rounds):
        cheap = [name for name in faults.CHEAP if self.wants(name)]
        for index in range(rounds if cheap else 0):
            name = cheap[index % len(cheap)]
            if index % len(cheap) == 0:
                self.random.shuffle(cheap)
            self.play(name, faults.CHEAP[name], False)
            if self.failed:
                return self.finish()
            if index % 100 == 99:
                print(f"  {index + 1} rounds", flush=True)
        for name, fault in faults.EXPENSIVE.items():
            for _ in range(long_rounds if self.wants(name) else 0):
                self.play(name, fault, False)
                if self.failed:
                    return self.finish()
        if self.wants("pooled"):
            for index in range(max(long_rounds, len(POOLED))):
                self.play("pooled", faults.CHEAP[POOLED[index % len(POOLED)]], True)
                if self.failed:
                    return self.finish()
        for name, case in special.CASES.items():
            if self.wants(name):
                self.case(name, case, long_rounds)
        self.failed = any(row.violations for row in self.rows.values())
        return self.finish()

    def row(self, name):
        return self.rows.setdefault(name, Row(name))

    def play(self, name, fault, is_pooled):
        row, start = self.row(name), time.monotonic()
        if row.not_run:
            return
        try:
            stage = self.stage(is_pooled)
            before = stage.tally()
            scene = faults.Scene(
                stage.cluster, stage.load,
                random.Random(f"{self.seed} {name} {row.rounds}"))
            recovery, lag = faults.play(scene, fault, stage.streams, compare)
            row.hits += 1
            row.recovery, row.lag = max(row.recovery, recovery), max(row.lag, lag)
            row.counts += stage.tally() - before
            found = violations(stage.load)
        except NotRun as reason:
            row.not_run = str(reason)
            return
        except (Violation, Exception) as error:
            if not isinstance(error, Violation):
                traceback.print_exc()
            found = [str(error) or repr(error)]
            stage = self.stages.get(is_pooled)
            found += violations(stage.load) if stage else []
        row.rounds += 1
        row.seconds += time.monotonic() - start
        for text in found[:20]:
            row.violate(f"round {row.rounds}: {text}")
        if found:
            self.failed = True
            self.trace(stage)

    def trace(self, stage):
        """What the nodes and the database said last."""
        print(f"  seed {self.seed}; {dict(stage.tally()) if stage else ''}")
        for node in stage.cluster.nodes if stage else []:
            print(f"  --- node on port {node.port}, /readyz {[s for _, s in node.readiness[-10:]]}")
            print("      " + "\n      ".join(node.daemon.words.splitlines()[-15:]))
        if self.postgres:
            print("  --- PostgreSQL\n      " + "\n      ".join(
                self.postgres.last_words.splitlines()[-8:]), flush=True)

    def case(self, name, case, rounds):
        row, start = self.row(name), time.monotonic()
        try:
            case(self, row, rounds)
        except NotRun as reason:
            row.not_run = str(reason)
        except (Violation, Exception) as error:
            if not isinstance(error, Violation):
                traceback.print_exc()
            row.violate(f"round {row.rounds + 1}: {error or repr(error)}")
        row.seconds = time.monotonic() - start

    def finish(self):
        """Prints the table; the exit status."""
        columns = ("rounds", "hit", "acked", "refused", "unknown", "violated", "s/round", "ready s",
                   "stream s")
        width = max(len(name) for name in self.rows)
        print(f"\n{'fault':{width}} " + "".join(f"{name:>9}" for name in columns))
        total = collections.Counter()
        for row in self.rows.values():
            if row.not_run:
                print(f"{row.name:{width}}  not run: {row.not_run}")
                continue
            acked, refused = row.counts["acknowledged writes"], row.counts["refused"]
            unknown = row.counts["unknown"] + row.counts["no answer"]
            numbers = (row.rounds, row.hits, acked, refused, unknown, len(row.violations))
            print(f"{row.name:{width}} " + "".join(f"{number:9}" for number in numbers)
                  + f"{row.seconds / max(1, row.rounds):9.1f}{row.recovery:9.1f}{row.lag:9.1f}")
            total.update(dict(zip(columns, numbers)))
        print(f"{'all':{width}} " + "".join(f"{total[name]:9}" for name in columns[:6]))
        for row in self.rows.values():
            for note, count in collections.Counter(row.notes).most_common(4):
                print(f"  {row.name}: {note}{f' ({count} times)' if count > 1 else ''}")
        for is_pooled, stage in self.stages.items():
            counts = collections.Counter()
            for stream in stage.streams:
                counts += stream.counts
            name = "pooled" if is_pooled else "direct"
            print(f"  {name}: streams {dict(counts)}; answers {dict(stage.load.codes)}")
        return 1 if total["violated"] else 0

    def end(self):
        for stage in self.stages.values():
            stage.end()
        self.programs.end()
