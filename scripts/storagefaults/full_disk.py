"""A disk without room: real small file systems, and single calls that say so."""

import contextlib
import shutil
import subprocess

from .kills import verify
from .model import NO_ANSWER, Model
from .programs import Daemon, Machine, NotRun
from .wire import Client, EventReader


@contextlib.contextmanager
def small_disk(programs, options):
    if not shutil.which("mount"):
        raise NotRun("there is no mount command")
    place = programs.work / "disk"
    place.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
    if done.returncode != 0:
        raise NotRun("mounting a tmpfs is not permitted here (run it as root)")
    try:
        yield place
    finally:
        programs.end()
        subprocess.run(["umount", str(place)], check=True)


def resize(place, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


def fill(row, client, model, random, bytes_each, limit=400):
    """Puts new keys until the daemon says no; the answer that said it."""
    for index in range(limit):
        answer = model.write(client, f"f{index}", random.randbytes(bytes_each))
        if answer is NO_ANSWER or answer.status != 200:
            return answer
    row.violate(f"{limit} puts of {bytes_each} bytes did not fill the disk")
    return None


def daemon_on_full_disk(programs, random, options, more, segment_bytes, bytes_each):
    def body(row):
        with small_disk(programs, options) as place:
            data, (token,) = programs.new_data("disk/data")
            flags = ["--set", "heartbeat-milliseconds=100"]
            daemon = Daemon(programs, data, segment_bytes=segment_bytes, extra=flags)
            client, model = Client(daemon.port, token), Model()
            row.expect(model.write(client, "first", b"1").status == 200, "the first put failed")
            reader = EventReader(client)
            refusal = fill(row, client, model, random, bytes_each)
            row.runs += 1
            while_full(row, daemon, client, reader, model, refusal, random, bytes_each)
            restart_while_full(row, programs, daemon, token, model, segment_bytes)

            daemon = Daemon(programs, data, segment_bytes=segment_bytes, extra=flags)
            client = Client(daemon.port, token)
            reader = EventReader(client)
            row.hits += model.write(client, "no", random.randbytes(bytes_each)).status == 507
            resize(place, more)
            answer = model.write(client, "again", random.randbytes(bytes_each))
            row.expect(answer.status == 200, f"space is back and a put is answered {answer}")
            row.expect(
                reader.wait(lambda reader: any(
                    change["key"] == "again" for change in reader.received)),
                "the watcher is not told of the put after space came back")
            model.deliver_all(reader)
            model.compare(client)
            daemon.stop()
            verify(row, programs, data, token, model, "after", segment_bytes=segment_bytes)

    return body


def while_full(row, daemon, client, reader, model, refusal, random, bytes_each):
    if not row.expect(refusal is not NO_ANSWER and refusal, "no answer on a full disk"):
        return
    row.expect(
        refusal.status == 507 and refusal.code == "disk-full", f"the refusal says {refusal}")
    row.expect(refusal.headers.get("retry-after"), "the refusal has no Retry-After")
    row.hits += refusal.status == 507
    for index in range(3):
        answer = model.write(client, f"g{index}", random.randbytes(bytes_each))
        row.hits += answer is not NO_ANSWER and answer.status == 507
        row.expect(answer.status in (200, 507), f"another put is answered {answer}")
    answer = model.write(client, "first", None)
    row.expect(answer.status in (200, 507), f"a delete is answered {answer}")
    row.expect(client.health().status == 200, "/healthz is not well")
    row.expect(client.get("f0").status == 200, "a key cannot be read")
    before = reader.heartbeats
    row.expect(
        reader.wait(lambda reader: reader.heartbeats > before), "the watcher hears nothing more")
    model.deliver_all(reader)
    model.compare(client)
    row.expect(daemon.is_running, "the daemon has ended")


def restart_while_full(row, programs, daemon, token, model, segment_bytes):
    row.expect(daemon.stop() == 0, f"did not stop well on a full disk: {daemon.words[-300:]}")
    daemon = Daemon(programs, daemon.data, segment_bytes=segment_bytes)
    row.runs += 1
    if row.expect(daemon.port, f"does not start on a full disk: {daemon.words[-300:]}"):
        model.compare(Client(daemon.port, token))
        daemon.stop()
    added = programs.run("kvsd", "device", "add", "late", "--data", daemon.data)
    if added.returncode != 0:
        words = added.stderr.decode()
        row.expect("o space left" in words and "devices.json" in words, f"device add: {words}")
    else:
        programs.run("kvsd", "device", "remove", "late", "--data", daemon.data)


def replica_on_full_disk(programs, random, options, more):
    def body(row):
        with small_disk(programs, options) as place:
            machine = Machine(programs, place / "home")
            file = programs.work / "value"
            kept = {}
            for index in range(20):
                value = random.randbytes(200_000)
                file.write_bytes(value)
                key = f"k{index % 3}"
                done = machine.kvs("set", key, "--data-file", file, "--no-sync")
                row.runs += 1
                if done.returncode == 0:
                    kept[key] = value
                    continue
                words = done.stderr.decode()
                row.hits += 1
                row.expect(done.returncode == 73, f"exit {done.returncode} instead of 73: {words}")
                row.expect("o space left" in words, f"the error does not say why: {words}")
                for name, wanted in kept.items():
                    found = machine.kvs("get", name, "--raw", "--no-sync")
                    row.expect(found.stdout == wanted, f"{name} is lost: {found.stderr[-200:]}")
                if row.hits == 3:
                    break
            resize(place, more)
            done = machine.kvs("set", "k0", "back", "--no-sync")
            row.expect(done.returncode == 0, f"space is back: {done.stderr.decode()[-300:]}")
            kept["k0"] = b"back"
            for name, wanted in kept.items():
                found = machine.kvs("get", name, "--raw", "--no-sync")
                row.expect(found.stdout == wanted, f"{name} is lost: {found.stderr[-200:]}")

    return body
