"""The bugs: each a name, what it is, and exact replacements in files below Sources/KVStore."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Bug:
    name: str
    meaning: str
    edits: tuple
    # Worlds meet it too seldom to be sure of in a minute. A test of its own guards against it.
    is_rare: bool = False


def bug(name, meaning, *edits, is_rare=False):
    return Bug(name, meaning, tuple(Edit(*edit) for edit in edits), is_rare)


REPLICA = "Core/Replica.swift"
SESSION = "Core/Replica+Session.swift"
SYNC = "Core/Replica+Sync.swift"
TABLE = "Core/Table.swift"
HUB = "Hub/Hub.swift"
LEDGER = "Hub/HubLedger.swift"
COMPACTION = "Hub/HubLedger+Compaction.swift"
RECOVERY = "Log/SegmentedLog+Recovery.swift"
CLEANING = "Log/SegmentedLog+Cleaning.swift"
LOG_SYNC = "Log/SegmentedLog+Sync.swift"
DURABLE = "Log/DurableReplica.swift"

APPEND_ALL = "        try log.append([payload])\n"
TAKE_IN = "        let entry = Table.Entry(record: record, mark: .settled)\n"

BUGS = [
    # Stamps and the merge
    bug("old-stamp-kept", "a replica takes in a greater record's value under its own old stamp",
        (SYNC, TAKE_IN,
         "        var record = record\n"
         "        if let old = table[record.key] { record.stamp = old.record.stamp }\n" + TAKE_IN)),
    bug("restamp-on-relay", "a received record is stored with a new stamp of the receiver",
        (SYNC, TAKE_IN,
         "        var record = record\n"
         "        record.stamp = clock.next(now: 0, replica: id)\n" + TAKE_IN)),
    bug("older-record-wins", "a record of the daemon replaces a greater one that is still to be sent",
        (SYNC, "} else if !record.supersedes(entry.record), !isOutOfDate(entry, seq: seq) {",
         "} else if entry.mark != .pending, !record.supersedes(entry.record),\n"
         "                !isOutOfDate(entry, seq: seq)\n            {")),
    bug("future-stamps-accepted", "the daemon accepts stamps from any future",
        (HUB, "if record.stamp.milliseconds > latest {", "if record.stamp.milliseconds > .max {")),
    bug("clock-deaf", "the clock does not follow stamps that are received",
        (SYNC,
         "        clock.confirm(record.stamp)\n        if let entry",
         "        if let entry"),
        (REPLICA,
         "        if let former = table[key] { clock.observe(former.record.stamp) }\n", "")),
    bug("equal-value-written", "a write of the value that a key has is a write like any other",
        (REPLICA,
         "        guard (table.content(forKey: key) ?? .tombstone) != content else"
         " { return ([], nil) }\n", "")),
    bug("copy-keeps-id", "a copied replica goes on under the id of the one it was copied from",
        (REPLICA, "        state.home = home\n        state.replica = newID\n",
         "        state.home = home\n")),

    # What is sent and acknowledged
    bug("newer-write-acknowledged", "an acknowledgement settles whatever the key holds by then",
        (SYNC, "                entry.record.stamp.description == change.stamp\n",
         "                !change.stamp.isEmpty\n")),
    bug("acknowledged-before-sync", "a sync of the log does not sync",
        (LOG_SYNC, "            try file.sync()\n", "")),
    bug("told-before-sync", "live readers are told of changes that no sync has covered",
        (LEDGER, "stores[id]?.durableSequence ?? 0 }", "stores[id]?.hub.sequence ?? 0 }")),
    bug("pending-mark-lost", "a log that is written anew holds pending keys as settled",
        (REPLICA, "entry.record, isPending: entry.mark != .settled,",
         "entry.record, isPending: entry.mark == .provisional,")),

    # The first download
    bug("early-write-pending", "a write before the first download counts as a later one",
        (REPLICA, "state.initialSyncCompleted ? .pending : .provisional", ".pending")),

    # Cursors and epochs
    bug("cursor-first", "the cursor is written by itself before the records that it covers",
        (DURABLE, APPEND_ALL,
         "        let states = entries.filter { if case .state = $0 { true } else { false } }\n"
         "        _ = payload\n"
         "        try log.append((states + entries).map(\\.payload))\n")),
    bug("entries-apart", "a torn write keeps the first entries of what one event leaves",
        (DURABLE, APPEND_ALL,
         "        _ = payload\n"
         "        try log.append(entries.map(\\.payload))\n")),
    bug("stream-seen", "what a stream tells during a full download counts as seen in it",
        (SYNC, "        clock.confirm(record.stamp)\n        if let entry",
         "        clock.confirm(record.stamp)\n"
         "        session.pass?.seen[record.key] = record\n        if let entry"),
        is_rare=True),
    bug("acknowledged-with-a-page", "what was sent counts as taken before the page that covers it",
        (SYNC, "use == .increment && !response.more", "use == .increment"),
        is_rare=True),
    bug("id-kept-after-refusal", "a clock that went back goes on under the same replica id",
        (SYNC, "let newID = ReplicaID(rawValue: random.next())", "let newID = id")),
    bug("stream-of-another-epoch", "a stream of an older epoch is followed",
        (SESSION, "            guard session.streamEpoch == state.epoch else { return [] }\n", ""),
        is_rare=True),
    bug("answer-of-another-epoch", "an answer to a request of an older epoch moves the cursor",
        (SYNC, "            return request.epoch == state.epoch ? .increment : .refusals\n",
         "            return .increment\n"),
        is_rare=True),
    bug("page-one-short", "a page leaves its last change out and moves the cursor over it",
        (HUB, "        page.cursor = max(page.cursor, last)\n",
         "        page.changes = page.changes.dropLast()\n"
         "        page.cursor = max(page.cursor, last)\n")),
    bug("no-epoch-at-start", "the first change after a start begins no epoch",
        (LEDGER, "        return [.store(id, state)]\n",
         "        return state.epochs.isEmpty ? [.store(id, state)] : []\n")),
    bug("early-collection", "a removal is forgotten and the horizon stays",
        (HUB, "        horizon = max(horizon, entry.sequence)\n", "")),

    # The log
    bug("torn-tail-left", "a torn tail is not zeroed",
        (RECOVERY, "try zero(file, from: end, to: content)", "_ = content"),
        (CLEANING, "            try zero(place.file, from: place.end, to: end)\n",
         "            _ = end\n"),
        is_rare=True),
    bug("failed-write-left", "what a failed write has left is not zeroed",
        (CLEANING, "if start < unclean.end { try zero", "if start < 0 { try zero"),
        is_rare=True),
    bug("doubt-ignored", "bytes found at opening without a proof are not written again",
        (LOG_SYNC, "            if let doubtful { try writeAgain(doubtful) }\n", "")),
    bug("compaction-drops", "the daemon's compaction drops keys that still count",
        (COMPACTION, "guard stores[id]?.places[key] == frame.position else",
         "guard stores[id]?.places[key] == nil else")),
    bug("compaction-unsynced", "old segments are removed before their successor is on disk",
        (COMPACTION, "log.isDurable(before: $0.end) } ?? false", "$0.end <= log.end } ?? false")),

    # Counters and notifications
    bug("quota-drift", "a replaced value is not taken off the quota's counters",
        (TABLE, "        count(old?.record.content, by: -1)\n", "        _ = old?.mark\n")),
    bug("daemon-quota-drift", "a replaced value is not taken off the daemon's counters",
        (HUB, "        count(old?.record.content, by: -1)\n", "        _ = old?.sequence\n")),
    bug("removal-untold", "an app is not told that a key was removed elsewhere",
        (SYNC, "        if table.put(entry) { changed.append(record.key) }\n",
         "        if table.put(entry), !record.content.isTombstone {\n"
         "            changed.append(record.key)\n        }\n")),
]
