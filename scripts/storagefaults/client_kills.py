"""kill -9 of client programs: of kvs in a local replica, and of all that sync."""

import shutil
import signal
import threading
import time
from pathlib import Path

from .owners import Story
from .programs import Daemon, Fault, Machine, copy_directory

CODEX = Path(__file__).resolve().parents[2] / "fixtures/sources/codex/homes/usual"

def replica_killed(programs, random, action, limit):
    """kvs set: exit 0 is the acknowledgement."""

    def body(row):
        big = [programs.work / f"big-{index}" for index in range(2)]
        for path in big:
            path.write_bytes(random.randbytes(400_000))
        scenes = {"the first write": 0, "a write": 2, "a new segment": 3, "compaction": 5}
        for scene, before in scenes.items():
            template = Machine(programs, programs.work / f"home-{action}-{before}")
            if before:
                template.kvs("set", "small", "kept", "--no-sync")
            for index in range(before - 1 if before > 1 else 0):
                template.kvs("set", "big", "--data-file", big[index % 2], "--no-sync")
            at = 1
            while True:
                where = f"{scene}, {action} at call {at}"
                machine = Machine(programs, programs.work / f"home-{action}-run")
                copy_directory(template.home, machine.home)
                hit = kill_kvs(row, programs, machine, big, before, Fault(action, at), where)
                shutil.rmtree(machine.home)
                if not hit:
                    break
                at += random.randrange(2, 9) if limit else 1

    return body


def kill_kvs(row, programs, machine, big, before, fault, where):
    log = programs.work / "kvs.calls"
    log.unlink(missing_ok=True)
    value = random_text = f"value-{before}"
    arguments = ["set", "new", random_text]
    if before > 2:
        arguments = ["set", "big", "--data-file", big[(before - 1) % 2]]
    done = machine.kvs(*arguments, "--no-sync", fault=fault, log=log)
    hit = done.returncode == -signal.SIGKILL
    row.runs += 1
    row.hits += hit
    row.expect(hit or done.returncode == 0, f"kvs set ended with {done.returncode}", where)
    key = arguments[1]
    found = machine.kvs("get", key, "--raw", "--no-sync")
    new = big[(before - 1) % 2].read_bytes() if before > 2 else value.encode()
    old = None
    if before > 2:
        old = big[before % 2].read_bytes()
    now = found.stdout if found.returncode == 0 else None
    if done.returncode == 0:
        row.expect(now == new, f"an acknowledged value is gone ({found.stderr[-200:]})", where)
    else:
        row.expect(now in (old, new), f"half a value ({found.stderr[-200:]})", where)
    if before:
        kept = machine.kvs("get", "small", "--raw", "--no-sync")
        row.expect(kept.stdout == b"kept", f"an earlier value is gone: {kept.stderr}", where)
    again = machine.kvs("set", "after", "yes", "--no-sync")
    row.expect(again.returncode == 0, f"no write afterwards: {again.stderr[-200:]}", where)
    return hit


SYNCING = {
    "kvs set": ("kvs", "set", "new", "value", "--require-sync"),
    "kvs sync": ("kvs", "sync"),
    "usage-push": ("usage-push",),
    "usage-view": ("usage-view", "--timeout", "10"),
}


def syncing_program_killed(programs, random, limit):
    """A program that syncs, at every call: afterwards the machine agrees with others."""

    def body(row):
        story = Story(programs, "syncing")
        shutil.copytree(CODEX, story.one.home, dirs_exist_ok=True)
        story.set(story.one, "kept", 1)
        story.set(story.two, "other", 5)
        for name, command in SYNCING.items():
            at = 1
            while True:
                where = f"{name}, kill at call {at}"
                machine = Machine(programs, programs.work / "syncing/run")
                copy_directory(story.one.home, machine.home)
                done = machine.run(*command, fault=Fault("kill", at))
                hit = done.returncode == -signal.SIGKILL
                row.runs += 1
                row.hits += hit
                row.expect(hit or done.returncode == 0, f"ended with {done.returncode}", where)
                found, words = machine.values()
                row.expect(
                    found and found.get("kept0") == "value of kept0",
                    f"an earlier value is gone: {words[-200:]}", where)
                if done.returncode == 0 and name == "kvs set":
                    row.expect(found.get("new") == "value", "an acknowledged value is gone", where)
                again = machine.run(*command)
                row.expect(again.returncode == 0, f"not again: {again.stderr[-200:]}", where)
                agree(row, machine, story.two, where)
                shutil.rmtree(machine.home)
                if not hit:
                    break
                at += random.randrange(4, 12) if limit else 1
        story.daemon.stop()

    return body


def agree(row, one, two, where):
    for machine in (one, two):
        done = machine.kvs("sync")
        row.expect(done.returncode == 0, f"sync: {done.stderr.decode()[-200:]}", where)
    values = [machine.values()[0] for machine in (one, two)]
    row.expect(values[0] and values[0] == values[1], f"machines differ: {values}", where)


def programs_killed_in_turn(programs, random, round_count):
    """kvs, usage-push and usage-view use one replica; they and kvsd are killed at any time."""

    def body(row):
        story = Story(programs, "in-turn")
        shutil.copytree(CODEX, story.one.home, dirs_exist_ok=True)
        for number in range(round_count):
            where = f"round {number + 1}"
            watching = [
                story.one.start("usage-push", "--watch", fault=Fault("kill", random.randrange(60))),
                story.one.start("usage-view", "--watch", fault=Fault("kill", random.randrange(60))),
            ]
            writer = threading.Thread(target=write_keys, args=(row, story, number, where))
            writer.start()
            time.sleep(random.uniform(0, 0.5))
            story.daemon.kill()
            writer.join()
            story.start()
            done = story.one.kvs(
                "set", f"unknown{number}", "x" * 20_000, "--no-sync",
                fault=Fault("kill", random.randrange(1, 12)))
            row.hits += 1 + (done.returncode == -signal.SIGKILL)
            for process in watching:
                row.hits += process.poll() in (None, -signal.SIGKILL)
                row.expect(
                    process.poll() in (None, -signal.SIGKILL), f"ended: {process.args}", where)
                process.kill()
                process.wait()
                process.terminal.close()
            row.runs += 1
            found, words = story.one.values()
            lost = [key for key, value in story.expected.items() if (found or {}).get(key) != value]
            row.expect(not lost, f"after kills without {' '.join(lost)}: {words[-200:]}", where)
            if number % 5 == 4 or number == round_count - 1:
                story.check_both(row, where)
        story.daemon.stop()

    return body


def write_keys(row, story, number, where):
    """What is stored is acknowledged, also when it is not synced in time (75)."""
    for index in range(4):
        key = f"r{number}-{index}"
        done = story.one.kvs("set", key, f"value of {key}", "--require-sync", "--timeout", "2")
        if row.expect(done.returncode in (0, 75), f"set: {done.stderr.decode()[-200:]}", where):
            story.expected[key] = f"value of {key}"
