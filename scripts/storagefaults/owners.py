"""Whose the folder is: two daemons on one, a stale lock, an older copy put back."""

import shutil

from .model import Model
from .programs import Daemon, Machine, copy_directory
from .wire import Client, EventReader


def two_daemons(programs, random):
    def body(row):
        data, (token,) = programs.new_data("shared")
        first = Daemon(programs, data)
        model = Model()
        model.write(Client(first.port, token), "key", b"value")
        check = programs.check(data)
        row.expect(
            check.returncode == 0 and b"while the daemon runs" in check.stdout,
            f"check beside a daemon says: {check.stdout} {check.stderr}")
        for attempt in ("serve", "store remove s"):
            row.runs += 1
            if attempt == "serve":
                second = Daemon(programs, data)
                status, words = second.process.poll(), second.words
            else:
                done = programs.run("kvsd", *attempt.split(), "--data", data)
                status, words = done.returncode, done.stderr.decode()
            row.hits += row.expect(status == 75, f"{attempt} ended with {status}: {words}")
            row.expect("in use" in words and str(data) in words, f"{attempt} says: {words}")
        model.compare(Client(first.port, token))
        row.expect(
            model.write(Client(first.port, token), "key", b"more").status == 200,
            "the first daemon suffers")
        first.kill()
        row.runs += 1
        third = Daemon(programs, data)
        if row.expect(third.port, f"a killed daemon leaves a lock: {third.words}"):
            model.compare(Client(third.port, token))
            third.stop()
        for violation in model.violations:
            row.violate(violation)

    return body


class Story:
    """A daemon, two machines that have joined it, and a copy of its folder taken earlier."""

    def __init__(self, programs, name):
        self.programs = programs
        self.data, (self.token, second) = programs.new_data(f"{name}/data", 2)
        self.daemon = Daemon(programs, self.data)
        self.port = self.daemon.port
        self.one = Machine(programs, programs.work / name / "one")
        self.two = Machine(programs, programs.work / name / "two")
        self.one.join(self.port, self.token)
        self.two.join(self.port, second)
        self.expected = {}

    def set(self, machine, prefix, count):
        for index in range(count):
            key = f"{prefix}{index}"
            done = machine.kvs("set", key, f"value of {key}", "--require-sync")
            assert done.returncode == 0, done.stderr
            self.expected[key] = f"value of {key}"

    def copy(self):
        """While it runs, as a person's cp -r would."""
        copy_directory(self.data, self.data.with_name("backup"))

    def restore(self):
        self.daemon.kill()
        shutil.rmtree(self.data)
        copy_directory(self.data.with_name("backup"), self.data)
        self.start()

    def start(self):
        self.daemon = Daemon(self.programs, self.data, port=self.port)
        assert self.daemon.port, self.daemon.words

    def check_both(self, row, where):
        """After each has synchronized twice: both have everything that anybody had."""
        for _ in range(2):
            for machine in (self.one, self.two):
                done = machine.kvs("sync")
                row.expect(done.returncode == 0, f"sync: {done.stderr.decode()[-200:]}", where)
        for name, machine in (("one", self.one), ("two", self.two)):
            found, words = machine.values()
            if not row.expect(found is not None, f"{name} cannot be read: {words}", where):
                continue
            lost = [key for key, value in self.expected.items() if found.get(key) != value]
            row.expect(not lost, f"{name} has no {' '.join(lost)}", where)


def older_copy(programs, writes_before_sync):
    """A copy taken at number 4 comes back when the machines are at number 8.

    Before the machine that knows more comes back, others write `writes_before_sync` keys. With four
    and more of them the numbers of the new history reach the machine's cursor.
    """

    def body(row):
        story = Story(programs, f"copy-{writes_before_sync}")
        story.set(story.one, "a", 4)
        story.two.kvs("sync")
        story.copy()
        story.set(story.one, "b", 4)
        story.restore()
        row.runs += 1
        where = f"{writes_before_sync} writes before the sync"
        client = Client(story.port, story.token, store="default")
        if not writes_before_sync:
            # As a client of its own: a cursor from the future is told to start over.
            told = EventReader(client, since=8)
            row.expect(told.wait(lambda reader: "reset" in reader.kinds), "no reset", where)
            epoch = client.request("GET", "/v1/stores").json["stores"][0]["epoch"]
            answer = client.sync(epoch, 8).json
            row.expect(answer["initial"], "a cursor from the future is not told so", where)
            row.hits += 1
        else:
            story.set(story.two, "c", writes_before_sync)
            row.hits += 1
        story.check_both(row, where)
        story.daemon.stop()

    return body


def damaged_tail_then_writes(programs, random):
    """The last record is lost on the disk, and its number is given again.

    A machine that has seen the first must not take the second for it.
    """

    def body(row):
        story = Story(programs, "tail")
        story.set(story.one, "a", 3)
        story.two.kvs("sync")
        story.daemon.kill()
        from .damage import frames, segments

        last = segments(story.data)[-1]
        start, end = frames(last)[-1]
        content = bytearray(last.read_bytes())
        content[start + 20] ^= 0x10
        last.write_bytes(content)
        story.start()
        row.runs += 1
        row.hits += 1
        # A third party writes: it gets the number that a2 had.
        client = Client(story.port, story.token, store="default")
        value = b"bplist00Qx\x08" + bytes(6) + bytes([1, 1]) + bytes(7) + b"\1" + bytes(15) + b"\n"
        answer = client.put("c0", value)
        row.expect(answer.status == 200, f"a put was answered {answer}")
        story.expected["c0"] = "x"
        story.check_both(row, "a flipped bit in the last record")
        story.daemon.stop()

    return body
