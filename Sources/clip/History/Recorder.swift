import ClipCore
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import StoreCommands

/// Adds copies to the history of this machine.
struct Recorder {
    let store: HistoryStore
    let settings: ClipSettings
    let device: DeviceSettings
    let filter: CopyFilter

    /// Reads the present settings.
    init(_ store: HistoryStore) throws {
        self.init(
            store, try .read(.init(environment: store.files.environment)), try .read(store.files))
    }

    init(_ store: HistoryStore, _ settings: ClipSettings, _ device: DeviceSettings) {
        self.store = store
        self.settings = settings
        self.device = device
        filter = device.filter(settings)
    }

    enum Outcome: Equatable {
        case added(ItemKey)
        /// An item has all of it.
        case counted(ItemKey)
        case skipped(SkipReason)
        /// It comes from this history, and has been counted.
        case copiedOut
        /// Pins leave no room.
        case full(neededByteCount: Int)
    }

    /// Decides whether a copy is kept, and adds it.
    ///
    /// - Parameter isSensitive: whether its owner asks that it is not kept.
    func record(_ offer: Offer, at time: Timestamp = .now) throws -> Outcome {
        let decision = filter.decide(offer, timer: MatchTimer(ContinuousClock()))
        return try store.change(settings.limits) { history, state in
            var changes = ClipHistory.Changes()
            guard state.pause.admitsCopy() else { return (changes, .skipped(.paused)) }
            switch decision {
            case .skip(let reason):
                if reason == .cleared { changes = history.selectionCleared(at: time) }
                state.count(reason)
                return (changes, .skipped(reason))
            case .keep(let contents):
                let key = ItemKey(of: contents)
                if state.copyOuts.contains(key, at: time) { return (changes, .copiedOut) }
                state.lastCopy = time
                return try add(contents, key, offer.application, time, &history)
            }
        }
    }

    private func add(
        _ contents: ClipContents, _ key: ItemKey, _ application: String?, _ time: Timestamp,
        _ history: inout ClipHistory
    ) throws -> (ClipHistory.Changes, Outcome) {
        let limit = ItemByteLimit(kibibytes: device.itemKibibytes)
        let item = limit.item(
            of: contents, on: store.files.environment.deviceName, application: application, at: time
        )
        var expired = history.expire(settings.expiry, at: time)
        let outcome: Outcome
        switch history.add(item, key, contents: contents) {
        case .added(let changes):
            expired.written.formUnion(changes.written)
            expired.removed.formUnion(changes.removed)
            outcome = .added(key)
        case .counted(let existing, let changes):
            expired.written.formUnion(changes.written)
            outcome = .counted(existing)
        case .empty: outcome = .skipped(.noEnabledType)
        case .full(let needed): outcome = .full(neededByteCount: needed)
        }
        if history.items[key].map({ $0.contents == nil }) == true {
            try ContentCache(store.files, device).insert(contents, for: key)
        }
        return (expired, outcome)
    }
}

extension StoreEnvironment {
    /// The name of this machine in the history: that by which it has joined, else the host's.
    var deviceName: String {
        if let name = try? credentials()?.deviceName { return name }
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "this machine" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
