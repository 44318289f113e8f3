import Essentials
import KVStoreEssentials
import KVStoreHTTP

/// Adds copies to the history of this machine.
struct Recorder {
    let store: HistoryStore
    let settings: ClipSettings
    let device: DeviceSettings
    let filter: CopyFilter

    /// Reads the present settings.
    init(_ store: HistoryStore) throws {
        self.init(store, try .read(.init(environment: store.files.environment)), try .read(store.files))
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

        /// Why the copy was not kept; nil if it is.
        var reason: String? {
            switch self {
            case .added, .counted, .copiedOut: nil
            case .skipped(let reason): reason.description
            case .full(let needed): "pinned items leave no room for \(needed) bytes; unpin some"
            }
        }
    }

    /// Decides whether a copy is kept, and adds it.
    ///
    /// - Parameter isClipboard: whether it is in the clipboard, instead of added by a user.
    func record(_ offer: Offer, isClipboard: Bool = true, at time: Timestamp = .now) throws -> Outcome {
        let decision = filter.decide(offer, timer: MatchTimer(ContinuousClock()))
        return try store.change(settings.limits) { history, state in
            var changes = ClipHistory.Changes()
            if decision == .skip(.cleared) || isClipboard && decision == .skip(.empty) {
                if let key = state.inClipboard.flatMap(ItemKey.init(name:)) {
                    changes = history.selectionCleared(key, at: time)
                }
                state.inClipboard = nil
                if decision == .skip(.empty) {
                    state.count(.empty)
                    return (changes, .skipped(.empty))
                }
                return (changes, .skipped(.cleared))
            }
            if isClipboard { state.inClipboard = nil }
            if isClipboard, case .keep(let contents) = decision {
                let key = ItemKey(of: contents)
                if state.copyOuts.contains(key, at: time), history.superseding(contents, key) != nil {
                    return (changes, .copiedOut)
                }
            }
            guard state.pause.admitsCopy() else { return (changes, .skipped(.paused)) }
            switch decision {
            case .skip(let reason):
                state.count(reason)
                return (changes, .skipped(reason))
            case .keep(let contents):
                let (changes, outcome) = try add(contents, offer.application, time, &history)
                state.lastCopy = time
                switch outcome {
                case .added(let key), .counted(let key): if isClipboard { state.inClipboard = key.name }
                case .skipped, .copiedOut, .full: break
                }
                return (changes, outcome)
            }
        }
    }

    private func add(
        _ contents: ClipContents, _ application: String?, _ time: Timestamp, _ history: inout ClipHistory
    ) throws -> (ClipHistory.Changes, Outcome) {
        let key = ItemKey(of: contents)
        let limit = ItemByteLimit(kibibytes: device.itemKibibytes)
        let item = limit.item(of: contents, on: store.files.environment.deviceName, application: application, at: time)
        var expired = history.expire(settings.expiry, at: time)
        let outcome: Outcome
        switch history.add(item, key, contents: contents) {
        case .added(let changes):
            expired.formUnion(changes)
            outcome = .added(key)
        case .counted(let existing, let changes):
            expired.formUnion(changes)
            outcome = .counted(existing)
        case .empty: outcome = .skipped(.empty)
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
        if let name = try? credentials()?.deviceName { return name }  // The host has a name too.
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "this machine" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
