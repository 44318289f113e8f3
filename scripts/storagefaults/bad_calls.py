"""Calls that fail, do less than asked, or take long."""

import errno
import os
import re
import shutil
import socket
import threading
import time

from .kills import prepared, verify, workload
from .model import NO_ANSWER, Model
from .programs import Daemon, Fault, Machine, copy_directory
from .wire import Client, EventReader


def daemon_errors(programs, random, code, call_names, limit, action="error"):
    """One call fails once, at every place; the daemon goes on or stops taking writes."""

    def body(row):
        name = f"template-{action}-{code}-{len(call_names)}"
        template, token, before = prepared(programs, random, name)
        steps = workload(random, 30)

        def one(at):
            data = programs.work / f"{action}-{code}-run"
            copy_directory(template, data)
            where = f"{action} {errno.errorcode.get(code, '')} at {call_names or 'call'} {at}"
            fault = Fault(action, at, call_names, number=code)
            daemon = Daemon(programs, data, fault=fault)
            model = Model(*before)
            if daemon.port:
                go_on(row, daemon, token, steps, model, where)
                status = daemon.stop()
                row.expect(status == 0, f"ended with {status}: {daemon.words[-300:]}", where)
            else:
                row.expect(
                    daemon.process.poll() in (73, 74), f"start: {daemon.process.poll()}", where)
                row.expect(daemon.words.startswith("kvsd: "), f"start: {daemon.words}", where)
            row.runs += 1
            row.hits += any(call.is_faulty for call in daemon.calls)
            total = sum(call.number > 0 for call in daemon.calls)
            verify(row, programs, data, token, model, where)
            shutil.rmtree(data)
            return total

        total = one(0)
        places = range(1, total + 1)
        if limit and limit < total:
            places = sorted(random.sample(places, limit))
        for at in places:
            one(at)
        row.notes.append(f"{total} such calls in a run without a fault")

    return body


def go_on(row, daemon, token, steps, model, where):
    """All steps, through errors, and what has to hold of the answers."""
    client = Client(daemon.port, token)
    reader, answers = None, []
    for key, value in steps:
        answer = model.write(client, key, value)
        if not row.expect(answer is not NO_ANSWER, "no answer", where):
            return
        answers.append(answer)
        allowed = answer.status == 200 or answer.code in (
            "disk-full", "write-failed", "disk-failed")
        allowed = allowed or (value is None and answer.status == 404)
        row.expect(allowed, f"a write was answered {answer}", where)
        if reader is None and answer.status == 200:
            reader = EventReader(client)
            model.learn_position(client)
    failed_sync = any(
        call.is_faulty and call.name == "sync" and call.path.endswith(".log")
        for call in daemon.calls)
    if failed_sync:
        codes = [answer.code for answer in answers]
        row.expect("disk-failed" in codes, f"a failed sync was hidden: {codes}", where)
    row.expect(recovers(client, model), "it does not recover", where)
    row.expect(client.health("/readyz").status == 200, "it says that it is not ready", where)
    read = client.health("/v1/stores")
    row.expect(read.status == 200, f"stores cannot be listed: {read}", where)
    if model.durable:
        for key in {key for key, _ in steps}:
            got = client.get(key)
            row.expect(got.status in (200, 404), f"a read was answered {got}", where)
            if got.status == 200:
                row.expect(model.allows(key, got.body), f"{key} is wrong", where)
    if reader:
        model.deliver_all(reader)


def recovers(client, model):
    """Whether writes are accepted within some seconds, without a restart."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        answer = model.write(client, "again", os.urandom(8))
        if answer is not NO_ANSWER and answer.status == 200:
            return True
        time.sleep(0.1)
    return False


def daemon_writes_nothing_for_a_while(programs, random, code):
    """Every write and reservation fails, then the disk is well again, without a restart."""

    def body(row):
        data, (token,) = programs.new_data(f"while-{code}")
        switch = programs.work / "bad-disk"
        fault = Fault("error", 1, "write reserve", count=0, number=code, switch=switch)
        daemon = Daemon(programs, data, fault=fault)
        client, model = Client(daemon.port, token), Model()
        for key, value in workload(random, 5):
            model.write(client, key, value)
        switch.touch()
        for key, value in workload(random, 5):
            answer = model.write(client, key, value)
            row.hits += answer.status in (503, 507)
        row.runs += 1
        row.expect(row.hits, "nothing failed")
        switch.unlink()
        row.expect(recovers(client, model), "the disk is well again, and no put is accepted")
        daemon.stop()
        verify(row, programs, data, token, model, "after")

    return body


def replica_errors(programs, random, code, limit):
    """kvs set with one failing call: it fails with a word, or it has stored."""

    def body(row):
        machine = Machine(programs, programs.work / f"errors-{code}")
        machine.kvs("set", "small", "kept", "--no-sync")
        log = programs.work / "kvs-errors.calls"
        for scene in ("fresh", "present"):
            at = 1
            while True:
                run = Machine(programs, programs.work / f"errors-{code}-run")
                if scene == "present":
                    copy_directory(machine.home, run.home)
                log.unlink(missing_ok=True)
                done = run.kvs("set", "new", "value", "--no-sync",
                               fault=Fault("error", at, number=code), log=log)
                hit = log.exists() and re.search(r" 1 /", log.read_text()) is not None
                row.runs += 1
                row.hits += hit
                where = f"{scene}, {errno.errorcode[code]} at call {at}"
                check_replica(row, run, done, scene, where)
                shutil.rmtree(run.home)
                if not hit:
                    break
                at += random.randrange(1, 4) if limit else 1

    return body


def check_replica(row, run, done, scene, where):
    words = done.stderr.decode()
    if done.returncode != 0:
        row.expect(
            done.returncode in (73, 74) and words.startswith("kvs: "),
            f"exit {done.returncode}: {words[-200:]}", where)
    found = run.kvs("get", "new", "--raw", "--no-sync")
    now = found.stdout if found.returncode == 0 else None
    allowed = (b"value",) if done.returncode == 0 else (b"value", None)
    row.expect(now in allowed, f"exit {done.returncode}, then {now} {found.stderr}", where)
    if scene == "present":
        kept = run.kvs("get", "small", "--raw", "--no-sync")
        row.expect(kept.stdout == b"kept", f"an earlier value is gone: {kept.stderr}", where)
    again = run.kvs("set", "after", "yes", "--no-sync")
    row.expect(again.returncode == 0, f"no write afterwards: {again.stderr}", where)


def no_descriptors(programs, random):
    """As many connections as there may be open files, and more."""

    def body(row):
        data, (token,) = programs.new_data("descriptors")
        daemon = Daemon(programs, data, open_files=64)
        client, model = Client(daemon.port, token, timeout=3), Model()
        for key, value in workload(random, 5):
            model.write(client, key, value)
        held = []
        for _ in range(120):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", daemon.port))
            held.append(connection)
        row.runs += 1
        time.sleep(1)
        before, start = daemon.processor_seconds(), time.monotonic()
        try:
            answered = client.health().status == 200
        except OSError:
            answered = False
        row.hits += not answered
        time.sleep(1)
        used = (daemon.processor_seconds() - before) / (time.monotonic() - start)
        row.notes.append(f"{100 * used:.0f} % of a core while no file can be opened")
        row.expect(used < 0.5, f"it spins: {100 * used:.0f} % of a core")
        row.expect(daemon.is_running, f"it has ended: {daemon.words[-300:]}")
        for connection in held:
            connection.close()
        deadline = time.monotonic() + 20
        answer, tries = NO_ANSWER, 0
        while time.monotonic() < deadline and (answer is NO_ANSWER or answer.status != 200):
            # A new key each time: one without an answer may still be stored later.
            answer, tries = model.write(client, f"back-{tries}", b"again"), tries + 1
        row.expect(answer is not NO_ANSWER and answer.status == 200, f"not back: {answer}")
        daemon.stop()
        verify(row, programs, data, token, model, "after")

    return body


def very_slow_disk(programs, random):
    """A sync takes longer than a request may: its outcome is unknown, and is told to be."""

    def body(row):
        data, (token,) = programs.new_data("very-slow")
        switch = programs.work / "very-slow-disk"
        fault = Fault("delay", 1, "sync", number=34_000, switch=switch)
        daemon = Daemon(programs, data, fault=fault, segment_bytes=1 << 20)
        client, model = Client(daemon.port, token, timeout=60), Model()
        model.write(client, "before", b"1")
        switch.touch()
        answer = model.write(client, "slow", b"2")
        row.runs += 1
        row.hits += sum(call.is_faulty for call in daemon.calls) + (answer.code is not None)
        row.expect(
            answer.status == 503 and answer.code == "outcome-unknown",
            f"a put with a sync of 34 s was answered {answer}")
        row.expect(answer.headers.get("retry-after"), "it does not say when to try again")
        answer = model.write(client, "slow", b"2")
        row.expect(answer.status == 200, f"the same put again was answered {answer}")
        daemon.stop()
        verify(row, programs, data, token, model, "after", segment_bytes=1 << 20)

    return body


def stop_during_sync(programs, random):
    """A sync hangs while kvsd stops: it exits with 70 after 10 s and loses nothing acknowledged."""

    def body(row):
        data, (token,) = programs.new_data("stop-during-sync")
        switch = programs.work / "hanging-sync"
        fault = Fault("delay", 1, "sync", number=60_000, switch=switch)
        daemon = Daemon(programs, data, fault=fault, segment_bytes=1 << 20)
        client, model = Client(daemon.port, token), Model()
        model.write(client, "before", b"1")
        switch.touch()
        answers = []
        writer = threading.Thread(
            target=lambda: answers.append(model.write(client, "hanging", b"2")))
        writer.start()
        deadline = time.monotonic() + 20
        while (b"kvsd_requests_waiting 1" not in client.health("/metrics").body
               and time.monotonic() < deadline):
            time.sleep(0.02)
        row.runs += 1
        start = time.monotonic()
        status = daemon.stop()
        seconds = time.monotonic() - start
        writer.join()
        row.hits += status == 70
        row.expect(status == 70, f"ended with {status}: {daemon.words[-300:]}")
        row.expect(9 < seconds < 20, f"it took {seconds:.1f} s")
        row.expect(answers == [NO_ANSWER], f"the write was answered {answers[0]}")
        verify(row, programs, data, token, model, "after", segment_bytes=1 << 20)

    return body


def slow_disk(programs, random, milliseconds, crowd, segment_bytes=1 << 20):
    """Every sync takes long: who waits, who must not, and for how many there is room."""

    def body(row):
        tokens_needed = 1 + crowd // 150
        data, tokens = programs.new_data(f"slow-{crowd}-{segment_bytes}", tokens_needed)
        switch = programs.work / "slow-disk"
        switch.unlink(missing_ok=True)
        fault = Fault("delay", 1, "sync", count=0, number=milliseconds, switch=switch)
        daemon = Daemon(programs, data, fault=fault, segment_bytes=segment_bytes,
                        extra=["--set", "heartbeat-milliseconds=100"])
        model, client = Model(), Client(daemon.port, tokens[0])
        model.write(client, "before", b"1")
        reader = EventReader(client)
        reader.wait(lambda reader: reader.received)
        calm = daemon.resident_bytes()
        switch.touch()
        outcomes, lock = [], threading.Lock()

        def put(index):
            one = Client(daemon.port, tokens[index % tokens_needed], timeout=60)
            sent = time.monotonic()
            try:
                answer = one.put(f"s{index % 500}-{index}", bytes(200))
            except OSError as error:
                answer = error
            with lock:
                outcomes.append((sent, time.monotonic(), answer))

        threads = [threading.Thread(target=put, args=(index,)) for index in range(crowd)]
        for thread in threads:
            thread.start()
        row.runs += 1
        busiest, answers = 0, {"/healthz": [], "a watcher": [], "a new watcher": []}

        def ask(what, answered):
            start = time.monotonic()
            if answered():
                answers[what].append((start, time.monotonic()))
            else:
                row.expect(False, f"{what} is not answered")

        while not busiest or any(thread.is_alive() for thread in threads):
            ask("/healthz", lambda: client.health().status == 200)
            beats = reader.heartbeats
            ask("a watcher", lambda: reader.wait(lambda reader: reader.heartbeats >= beats + 3))
            ask("a new watcher", lambda: EventReader(client).wait(lambda reader: reader.received))
            busiest = max(busiest, daemon.resident_bytes())
        for thread in threads:
            thread.join()
        syncs = [call for call in daemon.calls if call.name == "sync"]
        row.hits += sum(call.is_faulty for call in syncs)
        # The machine may be slow, so what is compared is the order: asked and answered while the
        # same sync went on.
        for what, spans in answers.items():
            row.expect(
                any(call.start <= start and end <= call.end
                    for start, end in spans for call in syncs),
                f"{what} was never answered while a sync went on, in {len(spans)} times")
        acknowledged = [item for item in outcomes if getattr(item[2], "status", 0) == 200]
        busy = [item for item in outcomes if getattr(item[2], "code", None) == "busy"]
        row.expect(
            len(acknowledged) + len(busy) == crowd,
            f"other answers: {[str(item[2]) for item in outcomes if item not in acknowledged][:3]}")
        row.expect(acknowledged, "nothing was acknowledged")
        for sent, came, _ in acknowledged:
            row.expect(
                any(call.start >= sent and call.end <= came for call in syncs),
                "an answer came before a sync that covers it")
        row.notes.append(
            f"{len(acknowledged)} acknowledged, {len(busy)} told that it is busy, "
            f"memory {calm >> 20} to {busiest >> 20} MiB")
        if crowd > 1_024:
            row.expect(busy, "the queue has no bound")
        switch.unlink()
        row.expect(daemon.stop() == 0, "it did not stop well")

    return body
