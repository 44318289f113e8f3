"""Faults under load. Each strikes, and has undone it when it returns."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

from storagefaults.load import KEYS, new_value

from .load import STORES
from .servers import ROLE, Violation

CLIENT = """
import socket, sys, time
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(sys.stdin.buffer.read())
print("sent", flush=True)
time.sleep(60)
"""
KVSD = "application_name LIKE 'kvsd %'"


class Scene:
    """What a fault is put under."""

    def __init__(self, cluster, load, random):
        self.cluster, self.load, self.random = cluster, load, random

    def pause(self, least, most):
        time.sleep(self.random.uniform(least, most))

    def node(self):
        return self.random.choice(self.cluster.nodes)

    def expect(self, condition, text):
        if not condition:
            self.load.models[STORES[0]].violations.append(text)

    @contextmanager
    def unready(self, least=0.4):
        """While nothing can be written, all nodes must say so; a pooler lets them wait for it."""
        start = time.monotonic()
        yield
        rest = start + least - time.monotonic()
        if rest > 0:
            time.sleep(rest)
        for node in [] if self.cluster.is_pooled else self.cluster.nodes:
            self.expect(self.cluster.said_unready(node, start),
                        f"/readyz of a node did not say 503 while the database was gone: "
                        f"{node.readiness[-8:]}")


# MARK: nodes and clients

def node_killed(scene):
    node, start = scene.node(), time.monotonic()
    node.daemon.kill()
    scene.expect(scene.load.wait(3, 15, start), "nothing was written while one node was gone")
    node.start()


def node_stopped(scene):
    node, start = scene.node(), time.monotonic()
    own = f"SELECT count(*) FROM ubiquity.node WHERE url LIKE '%:{node.port}'"
    known = int(scene.cluster.sql(own))
    status = node.daemon.stop()
    scene.expect(status == 0, f"SIGTERM ended a node with {status}: {node.daemon.words[-300:]}")
    scene.expect(scene.load.wait(3, 15, start), "nothing was written while one node was gone")
    scene.expect(int(scene.cluster.sql(own)) == known - 1, "a node did not sign off")
    node.start()


def node_joins(scene):
    spare, load = scene.cluster.spare, scene.load
    spare.start()
    for store in STORES:
        key, value = KEYS[0], new_value(0, 9, 100)
        load.note(load.models[store].write(spare.client(store), key, value))
    scene.pause(0, 0.1)
    if scene.random.random() < 0.5:
        spare.daemon.kill()
    else:
        status = spare.daemon.stop()
        scene.expect(status == 0, f"SIGTERM ended the third node with {status}")


def node_suspended(scene, seconds=(0.3, 1.2)):
    node, start = scene.node(), time.monotonic()
    node.daemon.process.send_signal(signal.SIGSTOP)
    scene.pause(*seconds)
    node.daemon.process.send_signal(signal.SIGCONT)
    if seconds[0] > 1:
        scene.expect(scene.load.wait(1, 1, start), "nothing was written while one node stood still")


def node_suspended_long(scene):
    node_suspended(scene, (6, 12))


def client_killed(scene):
    cluster, load = scene.cluster, scene.load
    store, requests = scene.random.choice(STORES), b""
    for _ in range(scene.random.randint(1, 4)):
        index = scene.random.randrange(len(KEYS))
        value = new_value(index, 8, scene.random.choice((50, 5_000, 200_000)))
        load.models[store].send(KEYS[index], value)
        requests += (f"PUT /v1/stores/{store}/keys/{KEYS[index]} HTTP/1.1\r\nHost: localhost\r\n"
                     f"Authorization: Bearer {cluster.token}\r\n"
                     "Content-Type: application/octet-stream\r\n"
                     f"Content-Length: {len(value)}\r\n\r\n").encode() + value
    requests = requests[:-scene.random.randint(1, 49)]
    port = scene.random.choice(cluster.ports())
    with subprocess.Popen([sys.executable, "-ISc", CLIENT, str(port)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdin.write(requests)
        process.stdin.close()
        if scene.random.random() < 0.7:
            process.stdout.readline()
        process.kill()


# MARK: the database

def backend_killed(scene):
    """The server ends all its sessions and recovers."""
    rows = scene.cluster.sql(f"SELECT pid FROM pg_stat_activity WHERE {KVSD}").split()
    os.kill(int(scene.random.choice(rows)), signal.SIGKILL)
    scene.pause(0, 0.1)


def backends_terminated(scene):
    for _ in range(scene.random.randint(1, 3)):
        scene.cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {KVSD}")
        scene.pause(0, 0.1)


def listener_terminated(scene):
    scene.cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                      "WHERE application_name = 'kvsd notifications'")
    scene.pause(0, 0.1)


def postgres_ended(mode):
    def fault(scene):
        with scene.unready():
            scene.cluster.postgres.stop(mode)
            scene.pause(0, 0.3)
        scene.cluster.postgres.start()

    return fault


def statement_timeout(scene):
    """New sessions of the role are given a millisecond for a statement."""
    setting = f"ALTER ROLE {ROLE} SET statement_timeout = '{scene.random.choice((1, 5))}ms'"
    scene.cluster.sql(setting)
    try:
        scene.cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {KVSD}")
        scene.pause(0.2, 0.5)
    finally:
        scene.cluster.sql(f"ALTER ROLE {ROLE} RESET statement_timeout")
    scene.cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {KVSD}")


def store_locked(scene, seconds=2):
    scene.cluster.sql(
        f"BEGIN; SELECT 1 FROM ubiquity.store WHERE name = '{scene.random.choice(STORES)}' "
        f"FOR UPDATE; SELECT pg_sleep({seconds}); COMMIT")


# MARK: the connection to the database

def wires_cut(scene):
    wires = scene.cluster.wires
    for _ in range(scene.random.randint(1, 4)):
        wires.cut()
        scene.pause(0, 0.08)


def wires_gone(scene):
    wires = scene.cluster.wires
    with scene.unready():
        wires.refuses = True
        wires.cut()
        scene.pause(0, 0.3)
    wires.refuses = False


def wires_delayed(scene):
    scene.cluster.wires.delay = scene.random.uniform(0.005, 0.06)
    scene.pause(0.2, 0.6)
    scene.cluster.wires.delay = 0.0


def wires_half_closed(scene):
    scene.cluster.wires.half_close(scene.random.random() < 0.5)
    scene.pause(0, 0.1)


def wires_held(scene, seconds=(0.2, 0.8)):
    wires = scene.cluster.wires
    wires.hold(True)
    scene.pause(*seconds)
    if scene.random.random() < 0.5:
        wires.cut()
    wires.hold(False)


def wires_held_long(scene):
    """Longer than a node waits for an answer of the database."""
    with scene.unready():
        wires_held(scene, (12, 14))


def answers_lost(scene):
    """Commits are executed, but nobody learns that."""
    wires = scene.cluster.wires
    wires.loses_answers = True
    scene.pause(0.02, 0.15)
    wires.cut()
    wires.loses_answers = False


CHEAP = {
    "node-killed": node_killed,
    "node-stopped": node_stopped,
    "node-joins": node_joins,
    "node-suspended": node_suspended,
    "client-killed": client_killed,
    "backend-killed": backend_killed,
    "backends-terminated": backends_terminated,
    "listener-terminated": listener_terminated,
    "postmaster-killed": postgres_ended("kill"),
    "postgres-immediate": postgres_ended("immediate"),
    "postgres-fast": postgres_ended("fast"),
    "statement-timeout": statement_timeout,
    "wires-cut": wires_cut,
    "wires-gone": wires_gone,
    "wires-delayed": wires_delayed,
    "wires-half-closed": wires_half_closed,
    "wires-held": wires_held,
    "answers-lost": answers_lost,
}
EXPENSIVE = {
    "store-locked": store_locked,
    "node-suspended-long": node_suspended_long,
    "wires-held-long": wires_held_long,
}


def play(scene, fault, streams, compare):
    """One round: load, fault, recovery, load, comparison. Seconds until all nodes were ready."""
    load, cluster = scene.load, scene.cluster
    load.begin()
    try:
        if not load.wait(8, 20):
            raise Violation(f"nothing was acknowledged before the fault: {load.codes}")
        for stream in streams:
            if scene.random.random() < 0.2:
                stream.move()
        scene.pause(0, 0.05)
        fault(scene)
        recovery = cluster.wait_until_ready(30)
        if not load.wait(8, 30):
            raise Violation(f"nothing was acknowledged after the fault: {load.codes}")
    finally:
        if not load.end():
            raise Violation("a writer waited for an answer for 45 s")
    return recovery, compare(cluster, load, streams)
