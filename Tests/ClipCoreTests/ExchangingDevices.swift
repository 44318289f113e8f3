import ClipCore
import SeededRandomness

/// Devices with a history each, and a store between them in which the newest write of a key wins, as in the real one.
struct ExchangingDevices {
    struct Device {
        var history = ClipHistory(limits: HistoryLimits(size: 6))
        /// Written here, not yet exchanged.
        var pending: [ItemKey: Record] = [:]
        var seen: [ItemKey: Int] = [:]
    }

    struct Record {
        var item: ClipItem?
        var stamp: Int
    }

    private(set) var devices: [String: Device]
    private var store: [ItemKey: Record] = [:]
    private let names: [String]
    private var randomness: SeededGenerator
    private var time: Int64 = 0
    private var stamp = 0

    init(names: [String], seed: UInt64) {
        self.names = names
        devices = Dictionary(uniqueKeysWithValues: names.map { ($0, Device()) })
        randomness = SeededGenerator(seed: seed)
    }

    var stored: [ItemKey: ClipItem] { store.compactMapValues(\.item) }

    /// One change on some device, by a clock of its own, or an exchange.
    mutating func step() {
        let name = names.randomElement(using: &randomness) ?? names[0]
        guard var device = devices[name] else { return }
        time += 1
        let now = Timestamp(milliseconds: time + Int64.random(in: -5...5, using: &randomness))
        let key = device.history.items.keys.sorted().randomElement(using: &randomness)
        var changes = ClipHistory.Changes()
        switch Int.random(in: 0..<10, using: &randomness) {
        case 0...3:
            let text = "text \(Int.random(in: 0..<9, using: &randomness))"
            switch device.history.add(text, at: now, on: name) {
            case .added(let added), .counted(_, let added): changes = added
            case .empty, .full: break
            }
        case 4:
            guard let key else { break }
            changes = device.history.togglePin(key, at: now, using: &randomness)
        case 5:
            guard let key else { break }
            changes = device.history.remove([key])
        default: return exchange(name)
        }
        write(changes, &device)
        devices[name] = device
    }

    private mutating func write(_ changes: ClipHistory.Changes, _ device: inout Device) {
        for key in changes.written.union(changes.removed).sorted() {
            stamp += 1
            device.pending[key] = Record(item: device.history.items[key], stamp: stamp)
        }
    }

    /// Sends what is pending where it is newer, then applies what the store has newer.
    private mutating func exchange(_ name: String) {
        guard var device = devices[name] else { return }
        for (key, record) in device.pending where record.stamp > store[key]?.stamp ?? 0 {
            store[key] = record
            device.seen[key] = record.stamp
        }
        device.pending = [:]
        for (key, record) in store.sorted(by: { $0.key < $1.key })
        where record.stamp > device.seen[key] ?? 0 {
            device.seen[key] = record.stamp
            let changes = device.history.apply(record.item, key)
            precondition(record.item != nil || changes.isEmpty, "written after a removal")
            write(changes, &device)
        }
        devices[name] = device
    }

    /// Exchanges until nobody has anything to say.
    ///
    /// - Returns: after how many rounds; nil if they go on.
    mutating func settle(limit: Int) -> Int? {
        for round in 0..<limit {
            let before = stamp
            for name in names.shuffled(using: &randomness) { exchange(name) }
            let isSilent = devices.values.allSatisfy { device in
                device.pending.isEmpty && store.allSatisfy { device.seen[$0.key] == $0.value.stamp }
            }
            if isSilent, stamp == before { return round }
        }
        return nil
    }
}
