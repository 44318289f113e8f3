"""Planted losses: each must be noticed."""

import shutil

from .campaign import run
from .connection import REPLICA
from .model import KEYS, Record, new_value

FUTURE = f"ffffffffffff-00000000-{REPLICA}"


def invent_acknowledgement(campaign):
    model = campaign.model
    value = new_value(0, 99, next(model.numbers), 100)
    write = model.send(KEYS[0], value)
    model.acknowledge(KEYS[0], write, Record(FUTURE, model.cursor + 100_000, value))


def invent_push(campaign):
    write = campaign.model.send(KEYS[0], None, FUTURE)
    campaign.model.acknowledge(KEYS[0], write, Record(FUTURE, None, None))


def invent_event(campaign):
    sequence = campaign.model.cursor + 100_000
    change = {"key": KEYS[0], "stamp": FUTURE, "seq": sequence, "deleted": True}
    campaign.model.deliver(change, "events")


def forget_what_was_sent(campaign):
    campaign.model.durable = {key: {} for key in KEYS}
    campaign.model.unanswered = {key: [] for key in KEYS}


def restore_older_copy(campaign):
    shutil.rmtree(campaign.work / "data")
    (campaign.work / "before").rename(campaign.work / "data")


def change_a_byte(campaign):
    path = min((campaign.work / "data/log").glob("*.log"))
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


CASES = {
    "nothing": (None, None),
    "an acknowledgement that was never sent": (invent_acknowledgement, "key-00 is lost"),
    "a pushed tombstone that was never acknowledged": (invent_push, "key-00 is lost"),
    "an event that was never sent": (invent_event, "key-00 was never sent"),
    "records that no client sent": (forget_what_was_sent, "was never sent"),
    "an older copy of the data": (restore_older_copy, "the cursor fell"),
    "a changed byte": (change_a_byte, "kvsd did not start"),
}


def self_test(binaries, seed, connection_count):
    """Whether every planted loss was noticed, and nothing was where nothing was planted."""
    is_passed = True
    for name, (sabotage, expected) in CASES.items():
        violation = run(binaries, seed, connection_count, 3, sabotage).get("violation")
        is_noticed = expected in violation if expected and violation else violation is expected
        is_passed = is_passed and is_noticed
        lines = (violation or "no violation").splitlines()
        line = next((line.strip() for line in lines if expected and expected in line), lines[0])
        print(f"{'ok    ' if is_noticed else 'FAILED'} {name}: {line}")
    return is_passed
