import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreSimulation

// As JSON: fields are added, never renamed or removed.

/// A store with its removed keys.
struct StoreContents: Encodable {
    var store: String
    /// Sorted by key.
    var keys: [StoreEntry]
}

/// What a store holds under a key: the fields of a version, `key` and `seq`.
struct StoreEntry: Encodable {
    let key: StoreKey
    let seq: UInt64
    let version: KeptVersion

    init(_ entry: SequencedRecord, writer: String) {
        (key, seq) = (entry.record.key, entry.sequence)
        version = KeptVersion(entry.record, writer: writer)
    }

    private enum CodingKeys: CodingKey { case key, seq }

    func encode(to encoder: any Encoder) throws {
        try version.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(seq, forKey: .seq)
    }
}

/// Why a store holds what it holds under a key.
struct KeyExplanation: Encodable {
    private let key: StoreKey
    private let store: StoreID
    private let present: StoreEntry?
    private let decisions: [(entry: DecisionLog.Entry, text: String)]

    init(_ key: StoreKey, in store: StoreID, present: StoreEntry?, decisions: [DecisionLog.Entry]) {
        let place = "in \(store.name)" + (store.otherAccount.map { " of account \($0)" } ?? "")
        self.key = key
        self.store = store
        self.present = present
        self.decisions = decisions.map {
            ($0, $0.decision.sentence(place, server: Emulation.deviceName))
        }
    }

    private var text: String {
        DecisionExplanation.text(
            of: key, holders: [("the emulator", present?.version.text ?? DecisionExplanation.noValue)],
            decisions: decisions.map { (Self.text(ofTime: $0.entry.time), $0.text) })
    }

    /// Always with milliseconds.
    private static func text(ofTime milliseconds: Int64) -> String {
        // The format cuts what is less than a millisecond, and a Date may be that much less.
        DateFormat.text(Date(timeIntervalSince1970: (Double(milliseconds) + 0.1) / 1_000))
    }

    private enum CodingKeys: CodingKey { case key, store, present, decisions, text }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(store.name, forKey: .store)
        try container.encode(present, forKey: .present)
        try container.encode(
            decisions.map { entry, text in
                DecisionDocument(entry.decision, text: text, time: entry.time, device: entry.device)
            }, forKey: .decisions)
        try container.encode(text, forKey: .text)
    }
}
