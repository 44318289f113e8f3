"""Nodes on one database, the proxy before them, and what clients see."""

import json
import threading
import time

from storagefaults.programs import Daemon
from storagefaults.wire import Client, Connection

from .servers import Violation, free_port, haproxy, wait
from .wires import Wires

LIMITS = ("--requests-per-second", "1000000", "--connections", "2000")


class Node:
    """A kvsd on the database; the same port after each start."""

    def __init__(self, cluster, index):
        self.cluster, self.data = cluster, cluster.directory / f"node{index}"
        self.port, self.daemon = free_port(), None
        self.readiness = []  # (time, status or None)

    def start(self, seconds=30):
        self.daemon = Daemon(
            self.cluster.programs, self.data, port=self.port, start_seconds=seconds,
            extra=("--set", f"database={self.cluster.address}", *LIMITS))
        if not self.daemon.port:
            raise Violation(f"kvsd did not start: {self.daemon.last_words}")

    def client(self, store):
        return Client(self.port, self.cluster.token, store, timeout=20)

    def poll(self):
        """The status of /readyz; None without an answer."""
        try:
            with Connection(self.port, self.cluster.token, timeout=0.5) as connection:
                status = connection.request("GET", "/readyz").status
        except OSError:
            status = None
        self.readiness.append((time.monotonic(), status))
        return status


class Cluster:
    """`wires` lie between the nodes and `postgres`, or a pooler before it."""

    def __init__(self, programs, postgres, name, count=2, pooler=None, address=None):
        self.programs, self.postgres, self.database = programs, postgres, name
        self.directory, self.is_pooled = programs.work / name, pooler is not None
        self.directory.mkdir()
        self.wires = Wires(pooler.port if pooler else postgres.port)
        self.address = address or postgres.address(name, self.wires.port)
        self.nodes = [Node(self, index) for index in range(count + 1)]
        self.spare = self.nodes.pop()
        for node in self.nodes:
            node.start()
        self.token = self.add_device()
        self.proxy = haproxy(
            programs, self.directory / "haproxy", [node.port for node in self.nodes]).start()
        self.is_polling = True
        self.polls = [threading.Thread(target=self.poll, args=(node,), daemon=True)
                      for node in self.nodes]
        for thread in self.polls:
            thread.start()
        self.wait_until_ready()

    def add_device(self):
        """The token of a device that all nodes know, by the code that one keeps for its machine."""
        code = json.loads((self.nodes[0].data / "daemon.json").read_text())["code"]
        with Connection(self.nodes[0].port, "") as connection:
            answer = connection.request(
                "POST", "/v1/pair", json.dumps({"code": code, "device": "load"}).encode(),
                "application/json")
        if answer.status != 200:
            raise Violation(f"a device was not added: {answer}")
        return answer.json["token"]

    def poll(self, node):
        while self.is_polling:
            node.poll()
            time.sleep(0.05)

    def wait_until_ready(self, seconds=20):
        """Until all nodes are, for the proxy too."""
        start = time.monotonic()
        for node in self.nodes:
            wait(lambda: any(at > start and status == 200 for at, status in node.readiness[-3:]),
                 seconds, f"/readyz says 200 again: {node.daemon.last_words}")
        return time.monotonic() - start

    def said_unready(self, node, since):
        return any(at > since and status == 503 for at, status in node.readiness)

    def sql(self, text):
        return self.postgres.sql(text, self.database)

    def ports(self):
        return [self.proxy.port, *(node.port for node in self.nodes)]

    def end(self):
        self.is_polling = False
        for node in [*self.nodes, self.spare]:
            if node.daemon and node.daemon.is_running:
                node.daemon.kill()
        self.proxy.kill()
