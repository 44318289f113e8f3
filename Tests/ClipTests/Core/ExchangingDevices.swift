@testable import clip
import StoreTestSupport

/// Devices with a history each, and a store that they share, in which the newest write of a key wins, as in the real
/// one.
struct ExchangingDevices {
    struct Device {
        var entries: [ItemKey: LocalEntry] = [:]
        /// What this device has of the shared store.
        var replica: [ItemKey: Record] = [:]
        /// Written here, not yet sent.
        var pending: Set<ItemKey> = []
        /// How often each item was copied here, since it was removed last anywhere.
        var copies: [ItemKey: UInt32] = [:]
    }

    struct Record: Equatable {
        var item: ClipItem?
        var stamp: Int
    }

    private(set) var devices: [String: Device]
    private var store: [ItemKey: Record] = [:]
    private let names: [String]
    private let removes: Bool
    private var randomness: SeededGenerator
    private var time: Int64 = 0
    private var stamp = 0

    /// - Parameter removes: whether items are removed, and devices have room for few.
    init(names: [String], removes: Bool, seed: UInt64) {
        self.names = names
        self.removes = removes
        devices = Dictionary(uniqueKeysWithValues: names.map { ($0, Device()) })
        randomness = SeededGenerator(seed: seed)
    }

    var stored: [ItemKey: ClipItem] { store.compactMapValues(\.item) }

    /// On some device: a change, by a clock of its own, an exchange with the store, or a reconciliation.
    mutating func step() {
        let name = names.randomElement(using: &randomness) ?? names[0]
        guard var device = devices[name] else { return }
        time += 1
        let now = Timestamp(milliseconds: time + Int64.random(in: -5...5, using: &randomness))
        var history = ClipHistory(items: device.entries.items, limits: HistoryLimits(size: removes ? 6 : 99))
        let key = history.items.keys.sorted().randomElement(using: &randomness)
        var changes = ClipHistory.Changes()
        switch Int.random(in: 0..<12, using: &randomness) {
        case 0...3:
            let text = "text \(Int.random(in: 0..<9, using: &randomness))"
            switch history.add(text, at: now, on: name) {
            case .added(let added), .counted(_, let added): changes = added
            case .empty, .full: break
            }
            device.copies[ItemKey(text), default: 0] += 1
        case 4:
            guard let key else { break }
            changes = history.togglePin(key, at: now, using: &randomness)
        case 5:
            guard let key, removes else { break }
            changes = history.remove([key])
        case 6...8: return reconcile(name)
        default: return exchange(name)
        }
        device.entries.apply(changes, of: history)
        devices[name] = device
    }

    private mutating func reconcile(_ name: String) {
        guard var device = devices[name] else { return }
        for key in Set(device.entries.keys).union(device.replica.keys).sorted() {
            let shared = device.replica[key]?.item
            let outcome = Reconciliation(device.entries[key], shared)
            device.entries[key] = outcome.local
            guard outcome.shared != shared else { continue }
            stamp += 1
            device.replica[key] = Record(item: outcome.shared, stamp: stamp)
            device.pending.insert(key)
        }
        devices[name] = device
    }

    /// Sends what is pending where it is newer, then takes what the store has newer.
    private mutating func exchange(_ name: String) {
        guard var device = devices[name] else { return }
        for key in device.pending {
            guard let record = device.replica[key], record.stamp > store[key]?.stamp ?? 0 else { continue }
            store[key] = record
        }
        device.pending = []
        device.replica = store
        devices[name] = device
    }

    /// Exchanges and reconciles until nobody has anything to say.
    ///
    /// - Returns: after how many rounds; nil if they go on.
    mutating func settle(limit: Int) -> Int? {
        for round in 0..<limit {
            let before = stamp
            for name in names.shuffled(using: &randomness) {
                exchange(name)
                reconcile(name)
            }
            let isSilent = devices.values.allSatisfy { $0.replica == store }
            if isSilent, stamp == before { return round }
        }
        return nil
    }
}
