"""PostgreSQL, PgBouncer and HAProxy of Debian, each in a directory of its own, on loopback only."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from storagefaults.programs import NotRun

USER = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
ROLE = "kvsd"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def program(name):
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([*map(str, installed), os.environ["PATH"], "/usr/sbin"])
    found = shutil.which(name, path=path)
    if not found:
        raise NotRun(f"{name} is not on this machine")
    return found


def wait(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Violation(f"not within {seconds} s: {what}")
        time.sleep(0.01)


class Violation(Exception):
    """Something that the database's nodes promise did not hold."""


def own(path):
    """Gives a path to the user of the servers, who must not be root."""
    if os.getuid() == 0:
        user = pwd.getpwnam(USER)
        os.chown(path, user.pw_uid, user.pw_gid)
        os.chmod(path, 0o700)


def as_user(command):
    """As that user; a process that this program has started ends with it."""
    if os.getuid() != 0:
        return command
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
            "--pdeathsig=INT", *command]


class PostgreSQL:
    """A server that survives its own end: `start` continues with its data."""

    def __init__(self, programs, directory, settings=(), source=None):
        self.programs, self.directory = programs, Path(directory)
        self.port, self.settings = free_port(), dict(settings)
        self.data, self.log = self.directory / "data", self.directory / "log"
        self.directory.mkdir(parents=True, exist_ok=True)
        own(self.directory)
        self.process = None
        if source:
            self.copy(source)
        else:
            self.run("initdb", "-D", self.data, "-U", USER, "-E", "UTF8", "--locale=C",
                     "--no-sync", "--auth=trust")

    def run(self, name, *arguments, timeout=60):
        done = subprocess.run(
            as_user([program(name), *map(str, arguments)]), cwd=self.directory,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, text=True)
        if done.returncode != 0:
            raise Violation(f"{name} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout.strip()

    def copy(self, source, port=None):
        """Becomes a standby of a running server, reached at `port`."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast",
                 "--no-sync", "-h", "127.0.0.1", "-p", source.port, "-U", USER)
        if port:
            with open(self.data / "postgresql.auto.conf", "a") as file:
                file.write(f"primary_conninfo = 'host=127.0.0.1 port={port} user={USER}'\n")

    def start(self, seconds=60):
        # A kill of a process loses nothing that it has given to the kernel.
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "fsync": "on",
            "unix_socket_directories": self.directory, "shared_buffers": "32MB", "jit": "off",
            "max_connections": 60, **self.settings}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        deadline = time.monotonic() + seconds
        while True:
            # Until the last process of a killed server has ended, its shared memory is in use.
            with open(self.log, "ab") as log:
                self.process = self.programs.start(
                    as_user([program("postgres"), "-D", str(self.data), *options]),
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            while self.process.poll() is None:
                if self.is_ready():
                    return self
                if time.monotonic() > deadline:
                    raise Violation(f"PostgreSQL did not start: {self.last_words}")
                time.sleep(0.02)
            if time.monotonic() > deadline:
                raise Violation(f"PostgreSQL did not start: {self.last_words}")
            time.sleep(0.05)

    @property
    def last_words(self):
        return self.log.read_text(errors="replace")[-600:]

    def is_ready(self):
        words = (self.data / "postmaster.pid")
        try:
            return words.read_text().splitlines()[7].strip() in ("ready", "standby")
        except (OSError, IndexError):
            return False

    def sql(self, text, database="postgres"):
        """The answer as text, fields separated by |; a Violation for an error."""
        return self.run("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.directory,
                        "-p", self.port, "-U", USER, "-d", database, "-c", text)

    def address(self, database, port=None):
        return f"postgres://{ROLE}@127.0.0.1:{port or self.port}/{database}?sslmode=disable"

    def make_database(self, name):
        self.sql(f"CREATE DATABASE {name} OWNER {ROLE}")

    def make_role(self):
        self.sql(f"CREATE ROLE {ROLE} LOGIN")

    def stop(self, mode="fast"):
        """A mode of `pg_ctl stop`; or kill, of the first process only, as the others notice."""
        number = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}[mode]
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(30)

    def kill_all(self):
        """All processes at once, as when the machine is gone."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self.process.kill()
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(30)


class Service:
    """A program that serves in the foreground until it is killed."""

    def __init__(self, programs, directory, command, port):
        self.programs, self.directory, self.command = programs, Path(directory), command
        self.port = port

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = self.programs.start(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.directory)
        wait(self.accepts, 20, f"{self.command[0]} accepts connections")
        return self

    def accepts(self):
        if self.process.poll() is not None:
            log = (self.directory / "log").read_text()
            raise Violation(f"{self.command[0]} ended: {log[-400:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


def haproxy(programs, directory, node_ports):
    """In front of nodes: gives new connections to those that say that they are ready."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    port = free_port()
    servers = "\n".join(
        f"    server node{index} 127.0.0.1:{node} check inter 100ms fall 2 rise 1 "
        "on-marked-down shutdown-sessions" for index, node in enumerate(node_ports))
    configuration = Path(directory) / "haproxy.cfg"
    configuration.write_text(f"""\
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 60s
    timeout check 500ms
    retries 1
    option redispatch
listen kvsd
    bind 127.0.0.1:{port}
    balance roundrobin
    option httpchk GET /readyz
{servers}
""")
    return Service(programs, directory, [program("haproxy"), "-db", "-f", str(configuration)], port)


def pgbouncer(programs, directory, postgres_port):
    """In transaction mode: each transaction may have another connection to the server."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    own(directory)
    port = free_port()
    (directory / "users").write_text(f'"{ROLE}" ""\n')
    configuration = directory / "pgbouncer.ini"
    configuration.write_text(f"""\
[databases]
* = host=127.0.0.1 port={postgres_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {directory}/users
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
server_login_retry = 0.1
ignore_startup_parameters = extra_float_digits
""")
    for path in (directory / "users", configuration):
        own(path)
    command = as_user([program("pgbouncer"), str(configuration)])
    return Service(programs, directory, command, port)
