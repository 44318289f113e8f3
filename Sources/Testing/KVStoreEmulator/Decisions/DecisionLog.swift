import Essentials
import KVStoreCore
import KVStoreSimulation
import NIOCore
import Synchronization

/// The latest decisions of an emulator about each key, and the devices that the replicas belong to. Safe to call from
/// any thread.
final class DecisionLog: Sendable {
    struct Entry: Sendable {
        /// Ascending over all keys.
        fileprivate var number: UInt64
        /// Milliseconds since 1970.
        var time: Int64
        /// Which device sent the change.
        var device: String
        var decision: Decision<KeptVersion>

        /// Memory that it takes, estimated.
        fileprivate var byteCount: Int {
            384 + decision.key.text.utf8.count + (decision.incoming?.memoryByteCount ?? 0)
                + (decision.present?.memoryByteCount ?? 0)
        }
    }

    private struct Writer: Hashable {
        var world: String
        var replica: ReplicaID
    }

    private struct Position {
        var number: UInt64
        var store: StoreID
        var key: StoreKey
    }

    private struct State {
        /// For each key, oldest first.
        var entries: [StoreID: [StoreKey: [Entry]]] = [:]
        /// For all entries, oldest first. It may contain those of entries that are gone.
        var order = CircularBuffer<Position>()
        var count = 0
        var byteCount = 0
        var nextNumber: UInt64 = 0
        /// Names of devices.
        var writers: [Writer: String] = [:]
    }

    /// Decisions of one key.
    static let countPerKey = 16
    /// Bytes of a value; longer ones are summarized.
    static let valueByteCount = 1_024
    /// Bytes of a key; decisions about longer ones, which no store accepts, are not kept.
    private static let keyByteCount = 1_024

    private let limits: EmulatorLimits
    /// Stamps the server's own writes.
    private let replica: ReplicaID
    private let state = Mutex(State())

    init(_ limits: EmulatorLimits, replica: ReplicaID) {
        self.limits = limits
        self.replica = replica
    }

    /// Names the device whose requests have this replica id.
    func register(_ replica: ReplicaID, of device: String, world: String) {
        state.withLock { state in
            let writer = Writer(world: world, replica: replica)
            if state.writers.count >= limits.decisionCount, state.writers[writer] == nil {
                // Any one; its device names it again with the next sync.
                _ = state.writers.popFirst()
            }
            state.writers[writer] = device
        }
    }

    /// - Parameters:
    ///   - device: which sent the changes.
    ///   - time: of the world.
    ///   - isWriter: whether the device wrote them too, though they have stamps of the server.
    func append(
        _ decisions: [Decision<StoreRecord>], in store: StoreID, by device: String, at time: Int64,
        isWriter: Bool = false
    ) {
        guard !decisions.isEmpty else { return }
        state.withLock { state in
            for decision in decisions where decision.key.text.utf8.count <= Self.keyByteCount {
                func version(_ record: StoreRecord, _ writer: String? = nil) -> KeptVersion {
                    KeptVersion(
                        record, writer: writer ?? self.writer(of: record, in: store, state),
                        byteLimit: Self.valueByteCount)
                }
                state.nextNumber += 1
                append(
                    Entry(
                        number: state.nextNumber, time: time, device: device,
                        decision: Decision(
                            decision.key, incoming: decision.incoming.map { version($0, isWriter ? device : nil) },
                            present: decision.present.map { version($0) }, winner: decision.winner,
                            reason: decision.reason)), in: store, &state)
            }
        }
    }

    /// The latest decisions about a key, oldest first.
    func entries(of key: StoreKey, in store: StoreID) -> [Entry] {
        state.withLock { $0.entries[store]?[key] ?? [] }
    }

    /// The name of the device that wrote a record.
    func writer(of record: StoreRecord, in store: StoreID) -> String {
        state.withLock { writer(of: record, in: store, $0) }
    }

    /// Forgets a world with all of its accounts, or all worlds.
    func forget(world: String?) {
        state.withLock { state in
            guard let world else {
                state = State()
                return
            }
            for store in state.entries.keys where store.world == world { remove(store, &state) }
            state.writers = state.writers.filter { $0.key.world != world }
        }
    }

    /// Forgets the decisions about the keys of a removed store.
    func forget(_ store: StoreID) { state.withLock { remove(store, &$0) } }

    // MARK: - With the lock

    /// What devices write with `PUT` has stamps of the server, so the decision names the device.
    private func writer(of record: StoreRecord, in store: StoreID, _ state: State) -> String {
        let accepted = state.entries[store]?[record.key]?.last {
            $0.decision.winner == .incoming && $0.decision.incoming?.stamp == record.stamp
        }
        let replica = record.stamp.replica
        return accepted?.decision.incoming?.writer ?? (replica == self.replica ? Emulation.deviceName : nil)
            ?? state.writers[Writer(world: store.world, replica: replica)] ?? "replica \(replica)"
    }

    private func append(_ entry: Entry, in store: StoreID, _ state: inout State) {
        let key = entry.decision.key
        state.entries[store, default: [:]][key, default: []].append(entry)
        state.order.append(Position(number: entry.number, store: store, key: key))
        state.count += 1
        state.byteCount += entry.byteCount
        if state.entries[store]?[key]?.count ?? 0 > Self.countPerKey {
            removeOldest(of: key, in: store, &state)
        }
        while state.count > limits.decisionCount || state.byteCount > limits.decisionByteCount,
            let oldest = state.order.popFirst()
        {
            if state.entries[oldest.store]?[oldest.key]?.first?.number == oldest.number {
                removeOldest(of: oldest.key, in: oldest.store, &state)
            }
        }
        if state.order.count > 2 * state.count + 1_024 {
            let entries = state.entries
            state.order.removeAll {
                entries[$0.store]?[$0.key]?.first.map(\.number) ?? .max > $0.number
            }
        }
    }

    private func removeOldest(of key: StoreKey, in store: StoreID, _ state: inout State) {
        guard let removed = state.entries[store]?[key]?.removeFirst() else { return }
        state.count -= 1
        state.byteCount -= removed.byteCount
        if state.entries[store]?[key]?.isEmpty == true { state.entries[store]?[key] = nil }
        if state.entries[store]?.isEmpty == true { state.entries[store] = nil }
    }

    private func remove(_ store: StoreID, _ state: inout State) {
        for entry in (state.entries.removeValue(forKey: store) ?? [:]).values.joined() {
            state.count -= 1
            state.byteCount -= entry.byteCount
        }
    }
}
