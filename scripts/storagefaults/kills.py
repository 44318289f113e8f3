"""kill -9 of the daemon at every file call, under puts and deletes, and of its commands."""

import collections
import os
import shutil
import signal
import subprocess

from .model import NO_ANSWER, Model
from .programs import Daemon, Fault, NotRun, copy_directory
from .wire import Client, EventReader


def workload(random, count):
    """Puts and deletes that fill several small segments and make compaction due."""
    steps = []
    present = set()
    for index in range(count):
        key = f"k{random.randrange(4)}"
        if key in present and random.random() < 0.15:
            present.discard(key)
            steps.append((key, None))
        else:
            present.add(key)
            steps.append((key, index.to_bytes(4, "big") + random.randbytes(random.randrange(900))))
    return steps


def run_until_killed(row, daemon, token, steps, model, where):
    client = Client(daemon.port, token)
    reader = None
    for key, value in steps:
        answer = model.write(client, key, value)
        if answer is NO_ANSWER:
            row.expect(daemon.wait_if_dying(), "a living daemon gave no answer", where)
            break
        row.expect(answer.status == 200, f"a write was answered {answer}", where)
        if reader is None:
            reader = EventReader(client)
            model.learn_position(client)
    if reader and not daemon.is_running:
        reader.wait(lambda reader: reader.is_over)
    if reader:
        model.deliver_all(reader)


def verify(row, programs, data, token, model, where, **options):
    """Starts without a fault and looks at everything; then the records on disk."""
    daemon = Daemon(programs, data, **options)
    if not row.expect(daemon.port, f"kvsd did not start: {daemon.words[-300:]}", where):
        return
    client = Client(daemon.port, token)
    model.compare(client)
    answer = model.write(client, "after", os.urandom(20))
    row.expect(
        answer is not NO_ANSWER and answer.status == 200, f"no write afterwards: {answer}", where)
    model.compare(client)
    row.expect(daemon.stop() == 0, f"kvsd did not stop well: {daemon.words[-300:]}", where)
    done = programs.check(data)
    row.expect(
        done.returncode == 0 and b"All intact" in done.stdout,
        f"check: {done.returncode} {done.stderr.decode()[-300:]}", where)
    for violation in model.violations:
        row.violate(violation, where)


def prepared(programs, random, name):
    """The folder of a daemon that was killed with records that the next start has to make sure of,
    its token, and the arguments of a model of it."""
    data, (token,) = programs.new_data(name)
    daemon, model = Daemon(programs, data), Model()
    client = Client(daemon.port, token)
    for key, value in workload(random, 4):
        model.write(client, key, value)
    model.compare(client)
    daemon.kill()
    return data, token, model.position


def daemon_killed(programs, random, action, limit, steps_count=30):
    """At every call, or at `limit` of them chosen by the seed; from an empty folder."""

    def body(row):
        template, (token,) = programs.new_data(f"template-{action}")
        steps = workload(random, steps_count)
        fresh = [0]

        def one(at):
            fresh[0] += 1
            data = programs.work / f"{action}-{fresh[0]}"
            copy_directory(template, data)
            where = f"{action} at call {at}"
            model = Model()
            daemon = Daemon(programs, data, fault=Fault(action, at))
            if daemon.port:
                run_until_killed(row, daemon, token, steps, model, where)
            if daemon.is_running:
                status = daemon.stop()
                row.expect(status in (0, -9), f"ended: {daemon.words[-300:]}", where)
            hit = daemon.was_killed
            row.runs += 1
            row.hits += hit
            made = daemon.calls
            total = len(made)
            if not at:
                names = collections.Counter(call.name for call in made)
                row.notes.append(", ".join(f"{count} {name}" for name, count in names.items()))
            if action == "torn":
                # What was torn is cut at the next start: that start is killed as well.
                for second in range(1, 4):
                    again = Daemon(programs, data, fault=Fault("torn", second))
                    if not again.was_killed:
                        again.stop()
                        break
                    row.hits += 1
            verify(row, programs, data, token, model, where)
            shutil.rmtree(data)
            return hit, total

        hit, total = one(0)
        places = range(1, total + 20)
        if limit and limit < total:
            places = sorted(random.sample(range(1, total + 1), limit))
        for at in places:
            hit, _ = one(at)
            if not hit and at > total:
                break

    return body


def checks_see_a_loss(programs, random):
    """A disk that drops one write: the checks used everywhere must find it."""

    def body(row):
        data, (token,) = programs.new_data("lying")
        # The daemon is the only one that writes here; its 12th write is a record's.
        daemon = Daemon(programs, data, fault=Fault("lie", 12, "write"))
        model = Model()
        run_until_killed(row, daemon, token, workload(random, 12), model, "lie")
        daemon.kill()
        row.runs += 1
        row.hits += sum(call.is_faulty for call in daemon.calls)
        again = Daemon(programs, data)
        if again.port:
            model.compare(Client(again.port, token))
            again.kill()
        row.expect(not again.port or model.violations, "a write was lost and nobody noticed")

    return body


def strace_prefix(log, *inject):
    """strace in front of a program; NotRun where it is missing or may not trace."""
    if not shutil.which("strace"):
        raise NotRun("strace is missing (scripts/bootstrap --tests)")
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True)
    if probe.returncode != 0:
        raise NotRun("strace may not trace here (ptrace is not permitted)")
    names = "openat,mkdir,write,pwrite64,fsync,fdatasync,ftruncate,fallocate,rename,renameat," \
            "renameat2,linkat,unlink,unlinkat"
    # Without --seccomp-bpf, which is faster and on some systems leaves the injection out.
    prefix = ["strace", "-f", "-y", "-qq", "-o", str(log), "-e", f"trace={names}"]
    for text in inject:
        prefix += ["-e", f"inject={text}"]
    return prefix


def shim_sees_every_call(programs, random):
    """The faults above are put under library calls; strace counts what reaches the system."""

    def body(row):
        data, (token,) = programs.new_data("counted")
        log = programs.work / "counted.strace"
        daemon = Daemon(programs, data, fault=Fault(), prefix=strace_prefix(log))
        row.runs += 1
        model = Model()
        run_until_killed(row, daemon, token, workload(random, 30), model, "traced")
        seen = len(daemon.calls)
        row.hits += seen
        os.kill(traced_child(daemon), signal.SIGTERM)
        daemon.process.wait(30)
        there = 0
        for line in log.read_text(errors="replace").splitlines():
            if str(data) not in line or "resumed>" in line:
                continue
            name = line.split(None, 1)[1].split("(")[0]
            there += name != "openat" or "O_CREAT" in line
        seen = len(daemon.calls)
        row.expect(seen == there, f"faults can be put under {seen} calls, the system saw {there}")
        row.notes.append(f"{seen} calls of the library, {there} of the system")

    return body


def traced_child(daemon):
    children = f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children"
    with open(children) as file:
        return int(file.read().split()[0])


def daemon_killed_by_strace(programs, random, limit):
    """The same at the border of the system; strace counts the calls of each thread."""

    def body(row):
        template, (token,) = programs.new_data("template-strace")
        steps = workload(random, 20)
        names = "pwrite64,fsync,fdatasync,renameat,unlinkat,fallocate,ftruncate"
        at = 1
        misses = 0
        while True:
            data = programs.work / f"strace-{at}"
            copy_directory(template, data)
            log = programs.work / "kill.strace"
            model = Model()
            daemon = Daemon(
                programs, data, prefix=strace_prefix(log, f"{names}:signal=KILL:when={at}"))
            where = f"strace kill when={at}"
            if daemon.port:
                run_until_killed(row, daemon, token, steps, model, where)
            row.runs += 1
            if daemon.is_running:
                os.kill(traced_child(daemon), signal.SIGTERM)
                daemon.process.wait(30)
            hit = daemon.was_killed
            row.hits += hit
            misses = 0 if hit else misses + 1
            verify(row, programs, data, token, model, where)
            shutil.rmtree(data)
            # Which thread makes a call is chance, so one miss is not yet the end.
            if misses == 3 or limit and at >= limit:
                return
            at += 1

    return body


def device_add_killed(programs, random):
    """kvsd device add at every call: the file with the tokens is the former one or the new one."""

    def body(row):
        template, _ = programs.new_data("devices")
        at = 1
        while True:
            data = programs.work / "devices-run"
            copy_directory(template, data)
            log = programs.work / "devices.calls"
            log.unlink(missing_ok=True)
            done = programs.run("kvsd", "device", "add", "late", "--data", data,
                                extra=programs.faulty(Fault("kill", at), data, log))
            hit = done.returncode == -signal.SIGKILL
            row.runs += 1
            row.hits += hit
            where = f"kill at call {at}"
            row.expect(hit or done.returncode == 0, f"ended with {done.returncode}", where)
            listed = programs.run("kvsd", "device", "list", "--data", data)
            row.expect(b"device-0" in listed.stdout, f"a device is gone: {listed.stderr}", where)
            row.expect(hit or b"late" in listed.stdout, "the new device is not there", where)
            again = programs.run("kvsd", "device", "add", "later", "--data", data)
            row.expect(again.returncode == 0, f"no change afterwards: {again.stderr}", where)
            shutil.rmtree(data)
            if not hit:
                return
            at += 1

    return body


def restore_killed(programs, random, step):
    """kvsd restore at every `step`th call: the next start has the former data or the restored."""

    def body(row):
        template, (token,) = programs.new_data("restore")
        daemon = Daemon(programs, template)
        model = Model()
        model.write(Client(daemon.port, token), "key", b"value")
        daemon.stop()
        backup = programs.work / "restored.backup"
        done = programs.run("kvsd", "backup", backup, "--data", template)
        assert done.returncode == 0, done.stderr
        programs.run("kvsd", "device", "add", "late", "--data", template)
        at = 1
        while True:
            data = programs.work / "restore-run"
            copy_directory(template, data)
            log = programs.work / "restore.calls"
            log.unlink(missing_ok=True)
            done = programs.run("kvsd", "restore", backup, "--replace", "--yes", "--data", data,
                                extra=programs.faulty(Fault("kill", at), data, log))
            hit = done.returncode == -signal.SIGKILL
            row.runs += 1
            row.hits += hit
            where = f"kill at call {at}"
            row.expect(hit or done.returncode == 0, f"ended with {done.returncode}", where)
            daemon = Daemon(programs, data)
            if row.expect(daemon.port, f"does not start: {daemon.words}", where):
                # Each run has a copy with epochs of its own.
                model.position = ({}, None, 0)
                model.compare(Client(daemon.port, token))
                daemon.stop()
            check = programs.check(data)
            row.expect(check.returncode == 0, f"check says: {check.stderr}", where)
            listed = programs.run("kvsd", "device", "list", "--data", data)
            is_restored = b"late" not in listed.stdout
            kept = [path for path in data.glob("before-restore-*/devices.json")]
            row.expect(is_restored == bool(kept), "the former data is not aside", where)
            row.expect(hit or is_restored, "not restored", where)
            shutil.rmtree(data)
            if not hit:
                break
            at += step
        for violation in model.violations:
            row.violate(violation)

    return body
