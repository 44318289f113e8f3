"""The bugs: a name, a description and exact text replacements in the sources of the store."""

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
    # Hit too rarely to be caught reliably within a minute; a unit test covers it.
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
    bug("old-stamp-kept", "a replica stores the winning value under the losing record's stamp",
        (SYNC, TAKE_IN,
         "        var record = record\n"
         "        if let old = table[record.key] { record.stamp = old.record.stamp }\n" + TAKE_IN)),
    bug("restamp-on-relay", "a replica restamps the records that it receives",
        (SYNC, TAKE_IN,
         "        var record = record\n"
         "        record.stamp = clock.next(now: 0, replica: id)\n" + TAKE_IN)),
    bug("clock-deaf", "the clock ignores the stamps of received records",
        (SYNC,
         "        clock.confirm(record.stamp)\n        if let entry",
         "        if let entry"),
        (REPLICA,
         "        if let former = table[key] { clock.observe(former.record.stamp) }\n", "")),
    bug("copy-keeps-id", "a copied replica keeps the id of the original",
        (REPLICA, "        state.home = home\n        state.replica = newID\n",
         "        state.home = home\n")),

    # What is sent and acknowledged
    bug("newer-write-acknowledged", "an acknowledgement also covers writes made after the request",
        (SYNC, "                entry.record.stamp.description == change.stamp\n",
         "                !change.stamp.isEmpty\n")),
    bug("acknowledged-before-sync", "syncing the log does not sync the file",
        (LOG_SYNC, "            try file.sync()\n", "")),
    bug("told-before-sync", "live readers receive changes before a sync covers them",
        (LEDGER, "stores[id]?.durableSequence ?? 0 }", "stores[id]?.hub.sequence ?? 0 }")),
    bug("pending-mark-lost", "rewriting the log marks pending keys as acknowledged",
        (REPLICA, "entry.record, isPending: entry.mark != .settled,",
         "entry.record, isPending: entry.mark == .provisional,")),

    # The first download
    bug("early-write-pending", "a write before the first download is not provisional",
        (REPLICA, "state.initialSyncCompleted ? .pending : .provisional", ".pending")),

    # Cursors and epochs
    bug("cursor-first", "the cursor gets a frame of its own before the records that it covers",
        (DURABLE, APPEND_ALL,
         "        let states = entries.filter { if case .state = $0 { true } else { false } }\n"
         "        _ = payload\n"
         "        try log.append((states + entries).map(\\.payload))\n")),
    bug("entries-apart", "the entries of an event are separate frames, which a write can tear",
        (DURABLE, APPEND_ALL,
         "        _ = payload\n"
         "        try log.append(entries.map(\\.payload))\n")),
    bug("stream-seen", "a record from a stream counts as seen in the full download under way",
        (SYNC, "        clock.confirm(record.stamp)\n        if let entry",
         "        clock.confirm(record.stamp)\n"
         "        session.pass?.seen[record.key] = record\n        if let entry"),
        is_rare=True),
    bug("acknowledged-with-a-page", "changes count as accepted before a cursor covers them",
        (SYNC, "use == .increment && !response.more", "use == .increment"),
        is_rare=True),
    bug("id-kept-after-refusal", "a clock set back after a rejection keeps the replica id",
        (SYNC, "let newID = ReplicaID(rawValue: random.next())", "let newID = id")),
    bug("stream-of-another-epoch", "changes from a stream of an older epoch are applied",
        (SESSION, "            guard session.streamEpoch == state.epoch else { return [] }\n", ""),
        is_rare=True),
    bug("answer-of-another-epoch", "an answer to a request of an older epoch moves the cursor",
        (SYNC, "            return request.epoch == state.epoch ? .increment : .refusals\n",
         "            return .increment\n"),
        is_rare=True),
    bug("page-one-short", "a page omits its last change but its cursor covers it",
        (HUB, "        page.cursor = max(page.cursor, last)\n",
         "        page.changes = page.changes.dropLast()\n"
         "        page.cursor = max(page.cursor, last)\n")),
    bug("no-epoch-at-start", "the first change after a start does not begin an epoch",
        (LEDGER, "        return [.store(id, state)]\n",
         "        return state.epochs.isEmpty ? [.store(id, state)] : []\n")),
    bug("early-collection", "forgetting a tombstone does not raise the horizon",
        (HUB, "        horizon = max(horizon, entry.sequence)\n", "")),

    # The log
    bug("torn-tail-left", "a torn tail is not zeroed",
        (RECOVERY, "try zero(file, from: end, to: content)", "_ = content"),
        (CLEANING, "            try zero(place.file, from: place.end, to: end)\n",
         "            _ = end\n"),
        is_rare=True),
    bug("failed-write-left", "the remains of a failed write are not zeroed",
        (CLEANING, "if start < unclean.end { try zero", "if start < 0 { try zero"),
        is_rare=True),
    bug("doubt-ignored", "unverified bytes found at opening are not written back",
        (LOG_SYNC, "            if let doubtful { try writeAgain(doubtful) }\n", "")),
    bug("compaction-drops", "the daemon's compaction drops live keys",
        (COMPACTION, "guard stores[id]?.places[key] == frame.position else",
         "guard stores[id]?.places[key] == nil else")),
    bug("compaction-unsynced", "old segments are removed before their successor is durable",
        (COMPACTION, "log.isDurable(before: $0.end) } ?? false", "$0.end <= log.end } ?? false")),

    # Counters and notifications
    bug("quota-drift", "replacing a value does not reduce the replica's quota counters",
        (TABLE, "        count(old?.record.content, by: -1)\n", "        _ = old?.mark\n")),
    bug("daemon-quota-drift", "replacing a value does not reduce the daemon's quota counters",
        (HUB, "        count(old?.record.content, by: -1)\n", "        _ = old?.sequence\n")),
    bug("removal-untold", "an app is not notified of keys removed elsewhere",
        (SYNC, "        if table.put(entry) { changed.append(record.key) }\n",
         "        if table.put(entry), !record.content.isTombstone {\n"
         "            changed.append(record.key)\n        }\n")),
]
