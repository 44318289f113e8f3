"""Cases with a course of their own: planted violations, a newer schema, a full disk, a failover."""

import base64
import contextlib
import json
import os
import random
import shutil
import subprocess
import time

from storagefaults.load import KEYS, new_value
from storagefaults.model import NO_ANSWER, Record, records_of
from storagefaults.programs import Daemon, Machine, NotRun
from storagefaults.wire import REPLICA

from . import faults
from .cluster import Cluster
from .load import STORES, Load, Stream, compare, violations
from .servers import PostgreSQL, Violation, wait
from .wires import Wires

NEWER = 99


def newer_schema(campaign, row, rounds):
    """A node refuses a schema that it does not know, and says which."""
    postgres = campaign.server()
    postgres.make_database("newer")
    data = campaign.programs.work / "newer"
    options = ("--set", f"database={postgres.address('newer')}")
    for _ in range(rounds):
        first = Daemon(campaign.programs, data, extra=options)
        if not first.port or first.stop() != 0:
            raise Violation(f"kvsd did not start and stop: {first.last_words}")
        known = postgres.sql("SELECT schema_version FROM ubiquity.meta", "newer")
        postgres.sql(f"UPDATE ubiquity.meta SET schema_version = {NEWER}", "newer")
        second = Daemon(campaign.programs, data, extra=options)
        status, words = second.process.poll(), second.words
        row.rounds, row.hits = row.rounds + 1, row.hits + (status == 78)
        expected = f"the schema has version {NEWER}, this kvsd knows version {known}"
        if second.port or status != 78 or expected not in words:
            row.violate(f"kvsd ended with {status} and said: {words}")
        postgres.sql(f"UPDATE ubiquity.meta SET schema_version = {known}", "newer")
    row.notes.append(f"exit status 78, '{expected}'")


# MARK: a full disk

@contextlib.contextmanager
def small_disk(place, size):
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True)
    if done.returncode != 0:
        raise NotRun("mounting a tmpfs is not permitted here (run it as root)")
    try:
        os.chmod(place, 0o711)
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def disk_full(campaign, row, rounds):
    """Nothing is acknowledged that is not stored; with room again, nodes need no restart."""
    if not shutil.which("mount"):
        raise NotRun("there is no mount command")
    with small_disk(campaign.programs.work / "disk", "256m") as place:
        settings = {"max_wal_size": "48MB", "min_wal_size": "32MB", "autovacuum_naptime": "1s"}
        postgres = PostgreSQL(campaign.programs, place / "postgres", settings).start()
        postgres.make_role()
        postgres.make_database("crowded")
        stage = Scenery(Cluster(campaign.programs, postgres, "crowded"), campaign.seed)
        try:
            for index in range(rounds):
                stage.play(row, lambda scene: fill(scene, place, row),
                           random.Random(f"{campaign.seed} full {index}"))
                if row.violations:
                    return
                postgres.sql("VACUUM FULL", "crowded")
        finally:
            stage.end()
            postgres.stop("immediate")


def read_all(scene):
    """Every key at every node that runs, while writes are refused."""
    for node in scene.cluster.nodes:
        for store in STORES:
            client = node.client(store)
            statuses = {client.get(key).status for key in KEYS}
            scene.expect(statuses <= {200, 404} or scene.cluster.postgres.process.poll() is not None,
                         f"reads on a full disk: {statuses}")


def fill(scene, place, row):
    ballast, postgres, since = place / "ballast", scene.cluster.postgres, time.monotonic()
    with contextlib.suppress(OSError), open(ballast, "wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()
    try:
        said = None
        for number in range(200):
            store, index = scene.random.choice(STORES), scene.random.randrange(len(KEYS))
            answer = scene.load.models[store].write(
                scene.random.choice(scene.cluster.nodes).client(store), KEYS[index],
                new_value(index, 7, 250_000))
            if answer is NO_ANSWER or answer.status != 200:
                said = "no answer" if answer is NO_ANSWER else str(answer)
                if postgres.process.poll() is not None or number > 100 or said.startswith("507"):
                    break
        row.notes.append(f"a full disk was answered with {said}")
        scene.expect(said, "200 writes of 250 KB did not fill the disk")
        read_all(scene)
        full = time.monotonic()
        scene.pause(0.4, 0.8)
        for node in scene.cluster.nodes:
            statuses = {str(status) for at, status in node.readiness if at > full}
            scene.expect(statuses == {"200"} or postgres.process.poll() is not None,
                         f"/readyz said {' and '.join(sorted(statuses))} on a full disk")
    finally:
        ballast.unlink(missing_ok=True)
    if postgres.process.poll() is not None:
        row.notes.append("PostgreSQL ended, and was started again")
        postgres.start()
    scene.expect(scene.load.wait(1, 30, time.monotonic()), "nothing was written with room again")


class Scenery:
    """Nodes under load with streams, for rounds of a case."""

    def __init__(self, cluster, seed, resets_expected=False):
        self.cluster, self.load = cluster, Load(cluster, seed)
        self.streams = [Stream(cluster, self.load.models[store], store, resets_expected)
                        for store in STORES[:2]]

    def tally(self):
        counts = sum((model.counts for model in self.load.models.values()), self.load.codes)
        return counts

    def play(self, row, fault, source):
        before = self.tally()
        recovery, lag = faults.play(
            faults.Scene(self.cluster, self.load, source), fault, self.streams, compare)
        row.rounds, row.hits = row.rounds + 1, row.hits + 1
        row.recovery, row.lag = max(row.recovery, recovery), max(row.lag, lag)
        row.counts += self.tally() - before
        for text in violations(self.load)[:20]:
            row.violate(f"round {row.rounds}: {text}")

    def write(self, seconds=0.2):
        """Load without a fault."""
        self.load.begin()
        is_served = self.load.wait(8, 30)
        time.sleep(seconds)
        if not self.load.end() or not is_served:
            raise Violation(f"writes were not acknowledged: {self.load.codes}")

    def end(self):
        for stream in self.streams:
            stream.end()
        self.cluster.end()


# MARK: a failover that loses commits

def with_standby(programs, name):
    """A server that runs, a standby of it that does not yet, and the address of a database on both."""
    primary = PostgreSQL(programs, programs.work / f"{name}-primary").start()
    primary.make_role()
    primary.make_database(name)
    standby = PostgreSQL(programs, programs.work / f"{name}-standby", source=primary)
    ports = ",".join(f"127.0.0.1:{server.port}" for server in (primary, standby))
    return primary, standby, f"postgres://kvsd@{ports}/{name}?sslmode=disable"


def failover(campaign, row, rounds):
    """An asynchronous standby without the last commits is promoted: replicas bring them back."""
    programs = campaign.programs
    primary, standby, address = with_standby(programs, "failover")
    stage = Scenery(Cluster(programs, primary, "failover", address=address), campaign.seed, True)
    machines = [Machine(programs, programs.work / f"home{index}") for index in range(3)]
    for machine in machines:
        machine.join(stage.cluster.proxy.port, stage.cluster.token)
    play = Failover(stage, row, machines)
    try:
        for index in range(rounds):
            primary, standby = play.round(primary, standby, random.Random(
                f"{campaign.seed} failover {index}"))
            if row.violations:
                return
    finally:
        stage.end()


class Failover:
    def __init__(self, stage, row, machines):
        self.stage, self.row, self.machines = stage, row, machines
        self.expected = {}  # of the store of the machines

    def set(self, machine, key, value):
        done = machine.kvs("set", key, value, "--require-sync", "--timeout", "30")
        if done.returncode != 0:
            raise Violation(f"kvs set ended with {done.returncode}: {done.stderr.decode()}")
        self.expected[key] = value
        self.row.counts["acknowledged writes"] += 1

    def put(self, key, value):
        """By HTTP: only replicas that have read it can bring it back."""
        client = self.stage.cluster.nodes[0].client("default")
        body = json.dumps({"type": "string", "value": value}).encode()
        answer = client.request(
            "PUT", client.path(key), body, type="application/vnd.ubiquity.value+json")
        if answer.status != 200:
            raise Violation(f"a put was answered {answer}")
        self.expected[key] = value
        self.row.counts["acknowledged writes"] += 1

    def sync(self, machine):
        done = machine.kvs("sync", "--timeout", "30")
        if done.returncode != 0:
            raise Violation(f"kvs sync ended with {done.returncode}: {done.stderr.decode()}")

    def round(self, primary, standby, source):
        stage, row, number = self.stage, self.row, self.row.rounds + 1
        tally, resets = stage.tally(), [stream.counts["resets"] for stream in stage.streams]
        wire = Wires(primary.port)
        standby.copy(primary, wire.port)
        standby.start()
        stage.write()
        self.set(self.machines[0], f"kept-{number}", f"kept {number}")
        self.sync(self.machines[1])
        end = primary.sql("SELECT pg_current_wal_flush_lsn()")
        wait(lambda: standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{end}'") == "t", 20,
             "the standby has caught up")
        before = self.snapshot()

        # From here on the standby hears nothing.
        wire.hold(True)
        acknowledged = stage.load.acknowledged
        stage.write()
        lost = stage.load.acknowledged - acknowledged
        for index in range(source.randint(1, 4)):
            self.set(source.choice(self.machines[:2]), f"lost-{number}-{index}", f"set {index}")
        self.set(self.machines[0], "shared", f"changed {number}")
        self.put(f"put-{number}", f"put {number}")
        for machine in self.machines[:2]:
            self.sync(machine)
        start = time.monotonic()
        primary.kill_all()
        wire.cut()
        time.sleep(0.3)
        standby.run("pg_ctl", "promote", "-w", "-D", standby.data)
        stage.cluster.postgres = standby
        recovery = stage.cluster.wait_until_ready(30)
        for node in stage.cluster.nodes:
            if not stage.cluster.said_unready(node, start):
                row.violate("/readyz did not say 503 without a primary")

        after = self.snapshot()
        for store in STORES:
            if after[store][0] != before[store][0]:
                row.violate(f"{store} is not what the standby had")
            if lost and after[store][1] == before[store][1]:
                row.violate(f"{store} has lost commits in the epoch {after[store][1]}")
            model = stage.load.models[store]
            model.begin(after[store][0], None, 0)
        stage.write()
        row.lag = max(row.lag, compare(stage.cluster, stage.load, stage.streams))
        for text in violations(stage.load)[:20]:
            row.violate(f"round {number}: {text}")
        for stream, former in zip(stage.streams, resets):
            if lost and stream.counts["resets"] == former:
                row.violate(f"a stream of {stream.store} was not reset")
        self.check_replicas(source)
        row.counts += stage.tally() - tally
        row.rounds, row.hits = number, row.hits + 1
        row.recovery = max(row.recovery, recovery)
        row.counts["lost with the primary"] += lost
        row.notes = [f"{row.counts['lost with the primary']} acknowledged writes that no replica "
                     "held were lost with a primary, as expected; all that one held came back"]
        return standby, primary

    def snapshot(self):
        """Records and epoch of each store, at both nodes."""
        result = {}
        for store in STORES:
            answers = []
            for node in self.stage.cluster.nodes:
                _, changes, epoch, _ = node.client(store).download()
                answers.append((records_of(changes), epoch))
            if answers[0] != answers[1]:
                raise Violation(f"the nodes differ in {store}")
            result[store] = answers[0]
        return result

    def check_replicas(self, source):
        """What a replica held is at the nodes again, and from there at one that did not."""
        order = self.machines[:2]
        source.shuffle(order)
        for machine in order:
            self.sync(machine)
        self.set(order[0], "after", f"after {self.row.rounds}")
        for machine in (self.machines[2], *order):
            self.sync(machine)
            found, words = machine.values()
            found = {key: value for key, value in (found or {}).items()}
            for key, value in self.expected.items():
                if found.get(key) != value:
                    self.row.violate(f"{key} is {found.get(key)} instead of {value}: {words}")


def synchronous_failover(campaign, row, rounds):
    """A standby that every commit waits for is promoted under load: nothing is lost."""
    programs = campaign.programs
    primary, standby, address = with_standby(programs, "synchronous")
    cluster = Cluster(programs, primary, "synchronous", address=address)
    stage = Scenery(cluster, campaign.seed, True)
    try:
        for index in range(rounds):
            standby.copy(primary)
            standby.start()
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.sql("SELECT pg_reload_conf()")
            wait(lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync", 20,
                 "commits wait for the standby")

            def fault(scene):
                with scene.unready():
                    primary.kill_all()
                standby.run("pg_ctl", "promote", "-w", "-D", standby.data)
                cluster.postgres = standby
                # As history may be lost, epochs end in any case.
                for model in stage.load.models.values():
                    model.position = ({}, None, 0)

            stage.play(row, fault, random.Random(f"{campaign.seed} synchronous {index}"))
            if row.violations:
                return
            primary, standby = standby, primary
    finally:
        stage.end()


# MARK: the checks themselves

FUTURE = f"ffffffffffff-00000000-{REPLICA}"


def lose_a_write(stage):
    model, value = stage.load.models[STORES[0]], new_value(0, 9, 100)
    model.acknowledge(KEYS[0], model.send(KEYS[0], value),
                      Record(FUTURE, model.highest + 100_000, value))


def store_a_refused_write(stage):
    model, value = stage.load.models[STORES[0]], new_value(0, 9, 100)
    answer = stage.cluster.nodes[1].client(STORES[0]).put(KEYS[0], value)
    if answer.status != 200:
        raise Violation(f"a put was answered {answer}")


def miss_an_event(stage):
    stage.streams[0].state.popitem()


def repeat_an_event(stage):
    stream = stage.streams[0]
    key, record = max(stream.state.items(), key=lambda entry: entry[1].sequence)
    content = ({"deleted": True} if record.value is None
               else {"value": base64.b64encode(record.value).decode()})
    stream.take("change", {"key": key, "seq": record.sequence, "stamp": record.stamp, **content})


PLANTED = [(lose_a_write, "is lost"), (store_a_refused_write, "was never sent"),
           (miss_an_event, "did not see"), (repeat_an_event, "follows")]


def planted(campaign, row, rounds):
    """Each planted violation is noticed; where nothing is planted, nothing is found."""
    stage = campaign.stage(False)
    for plant, expected in PLANTED:
        stage.write(0.05)
        compare(stage.cluster, stage.load, stage.streams)
        if found := violations(stage.load):
            raise Violation(f"nothing was planted, but {found} found")
        plant(stage)
        compare(stage.cluster, stage.load, stage.streams, catch_up_seconds=2)
        found = violations(stage.load)
        row.rounds, row.hits = row.rounds + 1, row.hits + bool(found)
        if not found or not any(expected in text for text in found):
            row.violate(f"{plant.__name__}: expected '{expected}', found {found}")
        for model in stage.load.models.values():
            model.violations.clear()
        for stream in stage.streams:
            stream.epoch = None
            stream.move()


CASES = {
    "planted": planted,
    "newer-schema": newer_schema,
    "disk-full": disk_full,
    "failover": failover,
    "synchronous-failover": synchronous_failover,
}
