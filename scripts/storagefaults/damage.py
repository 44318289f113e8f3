"""Cut and flipped files of a daemon that is stopped, and of a replica."""

import hashlib
import json
import re
import shutil

from .kills import verify
from .model import Model, Record
from .programs import Daemon, Machine, copy_directory
from .wire import Client


def segments(data):
    return sorted((data / "log").glob("*.log"))


def frames(path):
    """(start, end) of each frame; docs/format.md says how they stand."""
    content, place, found = path.read_bytes(), 64, []
    while place + 16 <= len(content):
        length = int.from_bytes(content[place:place + 4], "little")
        if not length:
            break
        end = place + (16 + length + 7) // 8 * 8
        found.append((place, end))
        place = end
    return found


def small_store(programs, random, name, steps=14):
    """A stopped daemon's folder with two segments or more, what it holds, and its token."""
    data, (token,) = programs.new_data(name)
    daemon, model = Daemon(programs, data), Model()
    client = Client(daemon.port, token)
    for index in range(steps):
        value = None if index == 5 else random.randbytes(400 + 13 * index)
        model.write(client, f"k{index % 4 if index != 5 else 0}", value)
    model.compare(client)
    daemon.stop()
    return data, token, dump(programs, data)[1]


def dump(programs, data):
    """Exit status, {key: record} and the words on standard error."""
    done = programs.run("kvsd", "dump", "--values", "--data", data)
    found = {}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        found[record["key"]] = Record.of(record)
    return done.returncode, found, done.stderr.decode(errors="replace")


def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


def history(programs, data, work):
    """What the store holds without its last record."""
    copy = work / "without-last"
    copy_directory(data, copy)
    last = segments(copy)[-1]
    start, _ = frames(last)[-1]
    content = last.read_bytes()
    last.write_bytes(content[:start] + bytes(len(content) - start))
    found = dump(programs, copy)[1]
    shutil.rmtree(copy)
    return found


def torn_tail(programs, random, step):
    """The last segment ends, or is zero, from each byte of its last record on."""

    def body(row):
        data, token, whole = small_store(programs, random, "torn")
        before = history(programs, data, programs.work)
        start, end = frames(segments(data)[-1])[-1]
        for zeroed in (False, True):
            for place in range(start, end + 1, step):
                where = f"{'zero' if zeroed else 'cut'} from byte {place}"
                copy = programs.work / "torn-run"
                copy_directory(data, copy)
                last = segments(copy)[-1]
                content = last.read_bytes()
                rest = bytes(len(content) - place) if zeroed else b""
                last.write_bytes(content[:place] + rest)
                status, found, words = dump(programs, copy)
                row.runs += 1
                row.hits += 1
                row.expect(status in (0, 74), f"dump ended with {status}: {words[-200:]}", where)
                row.expect(found in (before, whole), "other records than before", where)
                if place in (start, start + 24) or place == end:
                    cursor = max(record.sequence for record in found.values())
                    model = Model(found, cursor=cursor)
                    verify(row, programs, copy, token, model, where)
                shutil.rmtree(copy)

    return body


def flipped_bits(programs, random, step):
    """A bit in every `step`-th byte of every segment."""

    def body(row):
        data, token, whole = small_store(programs, random, "flipped")
        before = history(programs, data, programs.work)
        counts = {"refused": 0, "harmless": 0, "last record cut": 0}
        last_start, last_end = frames(segments(data)[-1])[-1]
        for segment in segments(data):
            end = frames(segment)[-1][1]
            places = list(range(random.randrange(step), end, step))
            places += random.sample(range(end, segment.stat().st_size), 4)
            for place in places:
                copy = programs.work / "flipped-run"
                copy_directory(data, copy)
                file = copy / "log" / segment.name
                content = bytearray(file.read_bytes())
                content[place] ^= 1 << random.randrange(8)
                file.write_bytes(content)
                row.runs += 1
                row.hits += 1
                where = f"a bit of byte {place} of {segment.name}"
                is_last = segment == segments(data)[-1] and last_start <= place < last_end
                judge(row, programs, copy, file, whole, before if is_last else whole, counts, where)
                shutil.rmtree(copy)
        row.notes.append(", ".join(f"{count} {name}" for name, count in counts.items()))

    return body


def judge(row, programs, copy, file, whole, allowed, counts, where):
    sums = {path.name: digest(path) for path in segments(copy)}
    done = programs.check(copy)
    words = done.stdout.decode() + done.stderr.decode()
    after = {path.name: digest(path) for path in segments(copy)}
    row.expect(after == sums, "check changed a log", where)
    if done.returncode == 0:
        status, found, _ = dump(programs, copy)
        row.expect(found == whole and status == 0, "other records than before", where)
        counts["harmless"] += 1
        return
    row.expect(done.returncode == 74, f"check ended with {done.returncode}: {words}", where)
    if "incomplete write at byte" in words and ": damaged" not in words:
        status, found, _ = dump(programs, copy)
        row.expect(found in (whole, allowed) and status == 74, "other records than before", where)
        counts["last record cut"] += 1
        return
    counts["refused"] += 1
    row.expect(str(file) in words, f"check does not name the file: {words}", where)
    row.expect(re.search(r"byte \d+|version", words), f"check names no offset: {words}", where)
    daemon = Daemon(programs, copy)
    row.expect(daemon.process.poll() == 74, f"kvsd serves a damaged log: {daemon.words}", where)
    daemon.kill()


def flipped_replica(programs, random, step):
    """A bit in every `step`-th byte of a replica's log; the values are its only copy."""

    def body(row):
        template = Machine(programs, programs.work / "replica-flipped")
        written = {}
        for index in range(8):
            key, value = f"k{index % 3}", f"value {index} " + "x" * (20 + index)
            template.kvs("set", key, value, "--no-sync")
            written.setdefault(key, []).append(value)
        log = next(template.data.glob("replicas/local/*/*.log"))
        relative = log.relative_to(template.home)
        end = frames(log)[-1][1]
        told = 0
        for place in range(random.randrange(step), end, step):
            machine = Machine(programs, programs.work / "replica-flipped-run")
            copy_directory(template.home, machine.home)
            content = bytearray((machine.home / relative).read_bytes())
            content[place] ^= 1 << random.randrange(8)
            (machine.home / relative).write_bytes(content)
            where = f"a bit of byte {place}"
            row.runs += 1
            row.hits += 1
            found, words = machine.values()
            if found is None:
                row.expect("damaged" in words or "version" in words, f"fails with: {words}", where)
                told += 1
                shutil.rmtree(machine.home)
                continue
            for key, value in found.items():
                row.expect(value in written.get(key, []), f"{key} is wrong: {value[:40]}", where)
            newest = {key: values[-1] for key, values in written.items()}
            if found != newest:
                aside = list((machine.home / relative).parent.glob("*.damaged-*"))
                in_tail = frames(log)[-1][0] <= place
                row.expect(aside or in_tail, "values are gone and no file is set aside", where)
                row.expect(words.strip() or in_tail, "values are gone and nobody is told", where)
                told += bool(words.strip())
            again = machine.kvs("set", "after", "yes", "--no-sync")
            row.expect(again.returncode == 0, f"no write afterwards: {again.stderr}", where)
            shutil.rmtree(machine.home)
        row.notes.append(f"{told} times in words")

    return body
