"""All cases in their order. Each has random numbers of its own, so that one alone is repeatable."""

import errno
import random

from . import bad_calls, client_kills, damage, full_disk, kills, owners, under_load


def cases(programs, seed, is_long, rounds=None):
    rounds = rounds or (3_000 if is_long else 100)

    def few(count):
        return None if is_long else count

    p = programs
    table = [
        ("a lost write is noticed (of the checks)", lambda r: kills.checks_see_a_loss(p, r)),
        ("every call can be hit (of the checks)", lambda r: kills.shim_sees_every_call(p, r)),
        ("a loss under load is noticed (of the checks)",
         lambda r: under_load.checks_see_sabotage(p, r)),
        ("1 kvsd killed before a call", lambda r: kills.daemon_killed(p, r, "kill", few(8))),
        ("1 kvsd killed after a call", lambda r: kills.daemon_killed(p, r, "kill-after", few(4))),
        ("1 kvsd killed at a system call",
         lambda r: kills.daemon_killed_by_strace(p, r, few(3))),
        ("1 kvsd device add killed before a call", lambda r: kills.device_add_killed(p, r)),
        ("1 kvsd restore killed before a call",
         lambda r: kills.restore_killed(p, r, 1 if is_long else 5)),
        ("1 kvsd killed under load", lambda r: under_load.killed_under_load(p, r, rounds)),
        ("1 programs that sync killed before a call",
         lambda r: client_kills.syncing_program_killed(p, r, few(1))),
        ("1 kvsd and programs of one replica killed",
         lambda r: client_kills.programs_killed_in_turn(p, r, 40 if is_long else 5)),
        ("1 kvs killed before a call", lambda r: client_kills.replica_killed(p, r, "kill", few(1))),
        ("3 kvsd killed within a write", lambda r: kills.daemon_killed(p, r, "torn", few(6))),
        ("3 kvs killed within a write",
         lambda r: client_kills.replica_killed(p, r, "torn", few(1))),
        ("3 kvsd's last record cut", lambda r: damage.torn_tail(p, r, 1 if is_long else 37)),
        ("4 a bit of kvsd's log flipped",
         lambda r: damage.flipped_bits(p, r, 5 if is_long else 307)),
        ("4 a bit of a replica flipped",
         lambda r: damage.flipped_replica(p, r, 1 if is_long else 61)),
        ("4 a bit of the last record flipped, then writes",
         lambda r: owners.damaged_tail_then_writes(p, r)),
        ("5 kvsd on a full disk",
         lambda r: full_disk.daemon_on_full_disk(
             p, r, "size=1m", "size=2m", 65_536, 8_000)),
        ("5 kvsd on a disk without inodes",
         lambda r: full_disk.daemon_on_full_disk(
             p, r, "size=8m,nr_inodes=10", "size=8m,nr_inodes=40", 4_096, 700)),
        ("5 kvs on a full disk",
         lambda r: full_disk.replica_on_full_disk(p, r, "size=2500k", "size=8m")),
        ("5 kvs on a disk full from the start",
         lambda r: full_disk.replica_on_full_disk(p, r, "size=512k", "size=8m")),
        ("5 ENOSPC at a call of kvsd",
         lambda r: bad_calls.daemon_errors(
             p, r, errno.ENOSPC, "write reserve create rename remove", few(6))),
        ("5 ENOSPC at all writes for a while",
         lambda r: bad_calls.daemon_writes_nothing_for_a_while(p, r, errno.ENOSPC)),
        ("5 ENOSPC at a call of kvs",
         lambda r: bad_calls.replica_errors(p, r, errno.ENOSPC, few(1))),
        ("6 EIO at a sync of kvsd",
         lambda r: bad_calls.daemon_errors(p, r, errno.EIO, "sync", few(6))),
        ("6 EIO at another call of kvsd",
         lambda r: bad_calls.daemon_errors(
             p, r, errno.EIO, "write reserve create rename remove", few(6))),
        ("6 EIO at a call of kvs",
         lambda r: bad_calls.replica_errors(p, r, errno.EIO, few(1))),
        ("7 a short write of kvsd",
         lambda r: bad_calls.daemon_errors(p, r, 0, "write", few(4), action="short")),
        ("7 EINTR at a call of kvsd",
         lambda r: bad_calls.daemon_errors(p, r, errno.EINTR, "write reserve", few(4))),
        ("7 EAGAIN at a write of kvsd",
         lambda r: bad_calls.daemon_errors(p, r, errno.EAGAIN, "write", few(3))),
        ("7 kvsd without file descriptors", lambda r: bad_calls.no_descriptors(p, r)),
        ("8 a stop during a sync that hangs", lambda r: bad_calls.stop_during_sync(p, r)),
        ("8 a slow disk",
         lambda r: bad_calls.slow_disk(p, r, 2_000, 40)),
        ("8 a slow disk and a crowd",
         lambda r: bad_calls.slow_disk(p, r, 4_000, 1_300)),
        ("22 two daemons on one folder", lambda r: owners.two_daemons(p, r)),
        ("22 an older copy put back", lambda r: owners.older_copy(p, 0)),
        ("22 an older copy put back, one write first", lambda r: owners.older_copy(p, 1)),
        ("22 an older copy put back, four writes first", lambda r: owners.older_copy(p, 4)),
        ("22 an older copy put back, nine writes first", lambda r: owners.older_copy(p, 9)),
    ]
    if is_long:
        table += [
            ("8 a slow disk while segments end",
             lambda r: bad_calls.slow_disk(p, r, 1_000, 30, segment_bytes=4_096)),
            ("8 a disk slower than a request may be",
             lambda r: bad_calls.very_slow_disk(p, r)),
        ]
    return [(name, make(random.Random(f"{seed} {name}"))) for name, make in table]
