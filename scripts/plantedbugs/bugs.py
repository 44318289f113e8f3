"""The bugs: each a name, what it is, and exact replacements in files below Sources."""

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


REPLICA = "Store/KVStoreCore/Replica/Replica.swift"
REPLAY = "Store/KVStoreCore/Replica/Replica+Replay.swift"
ROUNDS = "Store/KVStoreCore/Replica/Replica+Rounds.swift"
ANSWERS = "Store/KVStoreCore/Replica/Replica+Answers.swift"
TABLE = "Store/KVStoreCore/Replica/Table.swift"
HUB = "Store/KVStoreCore/Hub/Hub.swift"
HUB_ANSWERS = "Store/KVStoreCore/Hub/Hub+Answers.swift"
LEDGER = "Store/KVStoreLedger/Ledger.swift"
COMPACTION = "Store/KVStoreLedger/Ledger+Compaction.swift"
RECOVERY = "Store/KVStoreLog/SegmentedLog+Recovery.swift"
CLEANING = "Store/KVStoreLog/SegmentedLog+Cleaning.swift"
LOG_SYNC = "Store/KVStoreLog/SegmentedLog+Sync.swift"
DURABLE = "Store/KVStoreEssentials/Replica/DurableReplica.swift"
CODEC = "Store/KVStoreEssentials/Replica/ReplicaEntryCodec.swift"

APPEND_ALL = "        try log.append([payload])\n"
APPLY = "        if store(Table.Entry(record: record, status: .acknowledged)) {"

BUGS = [
    # Stamps and the merge
    bug("old-stamp-kept", "a replica applies a greater record's value under its own old stamp",
        (ANSWERS, APPLY,
         "        var stamped = record\n"
         "        if let old = table[record.key] { stamped.stamp = old.record.stamp }\n"
         + APPLY.replace("record: record", "record: stamped"))),
    bug("restamp-on-relay", "a received record is stored with a new stamp of the receiver",
        (ANSWERS, APPLY,
         "        var stamped = record\n"
         "        stamped.stamp = clock.next(now: 0, replica: id)\n"
         + APPLY.replace("record: record", "record: stamped"))),
    bug("clock-deaf", "the clock does not follow stamps that are received",
        (ANSWERS,
         "        clock.confirm(record.stamp)\n        if let entry",
         "        if let entry"),
        (REPLICA,
         "        if let former = table[key] { clock.observe(former.record.stamp) }\n", "")),
    bug("copy-keeps-id", "a copied replica continues under the id of the original",
        (REPLAY, "        state.storageIdentity = storageIdentity\n        state.replica = newID\n",
         "        state.storageIdentity = storageIdentity\n")),
    bug("equal-value-written", "setting an equal value writes, sends and notifies it",
        (REPLICA, "        guard (table.content(forKey: key) ?? .tombstone) != content else { return nil }\n",
         "")),

    # What is sent and acknowledged
    bug("newer-write-acknowledged", "an acknowledgement covers whatever the key holds by then",
        (ANSWERS, "                entry.record.stamp == change.stamp\n",
         "                change.stamp.counter >= 0\n")),
    bug("acknowledged-before-sync", "a sync of the log does not sync",
        (LOG_SYNC, "            try file.sync()\n", "")),
    bug("sent-before-sync", "stamps leave the replica before they are durable",
        (ROUNDS, "        ready.mustSync = !request.changes.isEmpty\n", ""),
        is_rare=True),
    bug("delivered-before-sync", "live readers see changes that no sync has covered",
        (LEDGER, "stores[id]?.durableSequence ?? 0 }", "stores[id]?.hub.sequence ?? 0 }")),
    bug("pending-mark-lost", "a rewritten log holds pending keys as acknowledged",
        (CODEC, "(entry.status == .acknowledged ? 0 : 1) |",
         "(entry.status == .provisional ? 1 : 0) |")),

    # The first download
    bug("early-write-pending", "a write before the first download counts as a later one",
        (REPLICA, "state.initialSyncCompleted ? .pending : .provisional", ".pending")),

    # Cursors and epochs
    bug("cursor-first", "the cursor is logged in a frame before the records that it covers",
        (DURABLE, APPEND_ALL,
         "        let states = entries.filter { if case .state = $0 { true } else { false } }\n"
         "        _ = payload\n"
         "        try log.append((states + entries).map(\\.payload))\n")),
    bug("entries-apart", "a torn write keeps a prefix of what one event leaves",
        (DURABLE, APPEND_ALL,
         "        _ = payload\n"
         "        try log.append(entries.map(\\.payload))\n")),
    bug("stream-seen", "what a stream brings during a full download counts as seen in it",
        (ANSWERS, "        clock.confirm(record.stamp)\n        if let entry",
         "        clock.confirm(record.stamp)\n"
         "        if var download = session.download {\n"
         "            download.seen[record.key] = record\n"
         "            session.transfer = .download(download)\n"
         "        }\n        if let entry"),
        is_rare=True),
    bug("acknowledged-with-a-page", "what was sent counts as accepted before the page that covers it",
        (ANSWERS, "use == .increment && !response.hasMore", "use == .increment"),
        is_rare=True),
    bug("id-kept-after-rejection", "a clock that went back continues under the same replica id",
        (ANSWERS, "let newID = ReplicaID(rawValue: random.next())", "let newID = id")),
    bug("stream-of-another-epoch", "a stream of an older epoch is followed",
        (ROUNDS, "guard streamIsOpen() == state.cursor?.epoch, let cursor = state.cursor else { return }",
         "streamIsOpen()\n            guard let cursor = state.cursor else { return }"),
        is_rare=True),
    bug("answer-of-another-epoch", "an answer to a request of an older epoch moves the cursor",
        (ANSWERS,
         "        return request.since?.epoch == state.cursor?.epoch ? .increment : .rejectionsOnly\n",
         "        return .increment\n"),
        is_rare=True),
    bug("page-one-short", "a page leaves its last change out and moves the cursor over it",
        (HUB_ANSWERS, "        page.cursor = max(page.cursor, last)\n",
         "        page.changes = page.changes.dropLast()\n"
         "        page.cursor = max(page.cursor, last)\n")),
    bug("no-epoch-at-start", "the first change after a start begins no epoch",
        (LEDGER,
         "        guard !store.hasBegun else { return [] }\n",
         "        guard store.hub.state.epochs.isEmpty else { return [] }\n")),
    bug("early-collection", "a tombstone is forgotten and the horizon stays",
        (HUB, "        state.horizon = max(state.horizon, entry.sequence)\n", "")),

    # The log
    bug("torn-tail-left", "a torn tail is not zeroed",
        (RECOVERY, "try zero(file, from: end, to: content)", "_ = content"),
        (CLEANING, "            try zero(place.file, from: place.end, to: end)\n",
         "            _ = end\n"),
        is_rare=True),
    bug("failed-write-left", "what a failed write has left is not zeroed",
        (CLEANING, "if start < dirtyTail.end { try zero", "if start < 0 { try zero"),
        is_rare=True),
    bug("doubt-ignored", "bytes found at opening without proof are not written back",
        (LOG_SYNC, "            if let unverified { try writeBack(unverified) }\n", "")),
    bug("compaction-drops", "the daemon's compaction drops live keys",
        (COMPACTION, "guard stores[id]?.positions[key] == frame.position else",
         "guard stores[id]?.positions[key] == nil else")),
    bug("compaction-unsynced", "old segments are removed before their successor is durable",
        (COMPACTION, "log.isDurable(before: $0.end) } ?? false", "$0.end <= log.end } ?? false")),

    # Counters and notifications
    bug("quota-drift", "a replaced value stays in the quota's counters",
        (TABLE, "        count(old?.record.content, by: -1)\n", "        _ = old?.status\n")),
    bug("daemon-quota-drift", "a replaced value stays in the daemon's counters",
        (HUB, "        count(old?.record.content, by: -1)\n", "        _ = old?.sequence\n")),
    bug("removal-unnotified", "an app is not notified that a key was removed elsewhere",
        (ANSWERS, APPLY + " changed.append(record.key) }\n",
         APPLY + "\n            if !record.content.isTombstone { changed.append(record.key) }\n"
         "        }\n")),
]
