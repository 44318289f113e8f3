"""The servers compared: each is started on loopback in a folder of its own, and acknowledges a write when it is durable
unless its `caveat` says otherwise."""
import contextlib, glob, json, os, pathlib, re, resource, shutil, signal, socket, statistics, subprocess, sys, time


root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


compiler = shutil.which("cc") or "clang"  # which comes with Swift


def build_release(*programs):
    """Builds programs as scripts/install does; returns their directory."""
    print("Building (the first build takes a few minutes) …", file=sys.stderr, flush=True)
    return subprocess.run(
        [os.path.join(root, "scripts/build-release"), *programs], check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.strip()


def build_programs(work, **programs):
    """Compiles C programs of this directory into `work`: each name with its files."""
    sources = os.path.dirname(os.path.abspath(__file__))
    for name, files in ({"client": ["client", "request", "protocols", "postgres", "nats"]} | programs).items():
        paths = [os.path.join(sources, file + ".c") for file in files]
        subprocess.run([compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-o", f"{work}/{name}", *paths], check=True)


def raise_file_limit():
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def run(*command):
    """The JSON that a program prints."""
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with status {result.returncode}")
    return json.loads(result.stdout)


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_rows(title, rows):
    """The samples of each row as a table."""
    print(f"| {title} | median | lowest–highest |\n|---|--:|--:|")
    for row, values in rows.items():
        print(f"| {row} | {figure(statistics.median(values))} | {figure(min(values))}–{figure(max(values))} |")


def add_options(parser, rounds_help):
    """The options that benchmarks of servers share."""
    parser.add_argument("--rounds", type=int, default=3, metavar="COUNT", help=rounds_help)
    parser.add_argument("--quick", action="store_true", help="one short round, to check that everything works")
    parser.add_argument("--json", action="store_true", help="print one JSON document with every sample")
    parser.add_argument("--folder", metavar="FOLDER", help="for the servers' files, on the disk to be measured")
    parser.add_argument("--bin", metavar="FOLDER", help="take the release programs from there instead of building them")
    parser.add_argument("--real-time", action="store_true",
                        help="as root: give servers and clients precedence over all other programs of a busy machine")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    name = protocol = program = package = version_pattern = ""
    version_arguments = ["--version"]
    stop_signal = signal.SIGTERM
    user = None
    caveat = ""
    client_arguments = []
    environment = {}
    process = None

    @classmethod
    def path(cls):
        return shutil.which(cls.program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")

    def version(self):
        output = subprocess.run([self.path(), *self.version_arguments], capture_output=True, text=True).stdout
        return re.search(r"\d+\.\d+[.\d]*", output).group()

    @contextlib.contextmanager
    def running(self, folder):
        """An empty server that accepts connections."""
        try:
            self.start(folder)
            yield
        finally:
            self.stop()

    def start(self, folder):
        os.makedirs(folder)
        self.folder, self.port = folder, free_port()
        if self.user:
            shutil.chown(folder, self.user, self.user)
        self.prepare()
        self.log = os.path.join(folder, "output")
        with open(self.log, "wb") as log:
            # A session of its own: Ctrl-C reaches the script alone, which then stops the servers.
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                user=self.user, group=self.user, cwd=folder, env=os.environ | self.environment)
        deadline = time.monotonic() + 60
        while not self.accepts():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} does not start:\n{pathlib.Path(self.log).read_text()}")
            time.sleep(0.02)
        self.fill()

    def accepts(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def processes(self):
        processes = [self.process.pid]
        for pid in processes:
            for children in glob.glob(f"/proc/{pid}/task/*/children"):
                with contextlib.suppress(FileNotFoundError):
                    processes += map(int, pathlib.Path(children).read_text().split())
        return processes

    def memory(self):
        """Bytes of resident memory; of several processes, pages that they share are counted once."""
        processes = self.processes()
        file, field = ("status", "VmRSS") if len(processes) == 1 else ("smaps_rollup", "Pss")
        total = 0
        for pid in processes:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                text = pathlib.Path(f"/proc/{pid}/{file}").read_text()
                total += int(re.search(rf"^{field}:\s+(\d+)", text, re.M).group(1)) * 1024
        return total

    def processor_seconds(self):
        """Of all its processes, including those that have ended."""
        ticks = 0
        for pid in self.processes():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def prepare(self): pass
    def fill(self): pass


class Kvsd(Server):
    name, protocol, program = "kvsd", "kvsd", "kvsd"
    directory = ""  # of the release build
    database = []  # the option that names one

    @classmethod
    def path(cls):
        return os.path.join(cls.directory, cls.program)

    def prepare(self):
        self.data = os.path.join(self.folder, "data")
        self.token = self.add_device()
        self.client_arguments = ["--token", self.token]

    def add_device(self):
        output = subprocess.run(
            [self.path(), "device", "add", "benchmark", "--data", self.data, *self.database], check=True,
            capture_output=True, text=True)
        return re.search(r"ubq_[\w-]+", output.stdout).group()

    def command(self):
        return [
            self.path(), "serve", "--data", self.data, *self.database, "--listen", f"127.0.0.1:{self.port}",
            "--requests-per-second", "1000000", "--streams-per-device", "5000", "--connections", "6000",
            "--set", "unauthenticated-per-address=6000"]


class Redis(Server):
    name, protocol, program, package = "Redis", "redis", "redis-server", "redis-server"

    def command(self):
        return [
            self.path(), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder, "--save", "",
            "--appendonly", "yes", "--appendfsync", "always"]


class PostgreSQL(Server):
    name, protocol, program, package = "PostgreSQL", "postgresql", "postgres", "postgresql"
    stop_signal = signal.SIGINT
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root

    @classmethod
    def path(cls):
        return max(glob.glob("/usr/lib/postgresql/*/bin/postgres"), default=None) or shutil.which("postgres")

    def run(self, program, *arguments):
        program = os.path.join(os.path.dirname(os.path.realpath(self.path())), program)
        subprocess.run([program, *arguments], check=True, capture_output=True, user=self.user, group=self.user, cwd="/")

    def prepare(self):
        self.data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth", "trust", "--no-sync")

    def command(self):
        return [
            self.path(), "-D", self.data, "-p", str(self.port), "-k", self.folder, "-c", "listen_addresses=127.0.0.1",
            "-c", "synchronous_commit=on", "-c", "max_connections=1300"]

    def accepts(self):
        program = os.path.join(os.path.dirname(os.path.realpath(self.path())), "pg_isready")
        return subprocess.run(
            [program, "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]).returncode == 0

    def fill(self):
        self.run(
            "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-c",
            "CREATE TABLE kv (key text PRIMARY KEY, value bytea)")


class Etcd(Server):
    name, protocol, program, package = "etcd", "etcd", "etcd", "etcd-server"

    def command(self):
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        return [
            self.path(), "--data-dir", os.path.join(self.folder, "data"), "--log-level", "error",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
            "--quota-backend-bytes", str(8 << 30)]  # history is kept until it is compacted

    def accepts(self):
        # It listens before it has a leader.
        if not super().accepts():
            return False
        body = '{"key":"c3RhcnRlZA==","value":"eWVz"}'
        request = f"POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        with socket.create_connection(("127.0.0.1", self.port), 5) as client:
            client.sendall(request.encode())
            return b" 200 " in client.recv(64)


class NATS(Server):
    name, protocol, program, package = "NATS", "nats", "nats-server", "nats-server"

    def prepare(self):
        # Version 2.10 was the first that could sync before it acknowledges.
        self.syncs = tuple(map(int, self.version().split(".")[:2])) >= (2, 10)
        self.caveat = "" if self.syncs else "acknowledges before it syncs: no setting of this version changes that"
        self.settings = os.path.join(self.folder, "settings")
        pathlib.Path(self.settings).write_text(
            f'listen: "127.0.0.1:{self.port}"\nping_interval: "1h"\n'
            f'jetstream {{ store_dir: "{self.folder}"\n{"sync_interval: always" if self.syncs else ""} }}\n')

    def command(self):
        return [self.path(), "-c", self.settings]

    def fill(self):
        stream = json.dumps({
            "name": "KV", "subjects": ["kv.>"], "storage": "file", "retention": "limits", "max_msgs_per_subject": 1,
            "discard": "old", "num_replicas": 1})
        with socket.create_connection(("127.0.0.1", self.port), 10) as client:
            client.sendall((
                'CONNECT {"verbose":false}\r\nSUB answer 1\r\n'
                f"PUB $JS.API.STREAM.CREATE.KV answer {len(stream)}\r\n{stream}\r\n").encode())
            received = b""
            while b"did_create" not in received and b"error" not in received:
                received += client.recv(4096) or b"error"
        if b"did_create" not in received:
            raise SystemExit(f"NATS: {received.decode()}")


servers = [Redis, Kvsd, PostgreSQL, Etcd, NATS]
