import Essentials
import KVStoreCore
import KVStoreSimulation
import KVStoreWire

/// The quota of a world, and strict mode.
extension Emulation {
    /// The changes that the quota of the world does not allow.
    ///
    /// - Throws: in a strict world if there are any.
    func refusals(
        of changes: [StoreRecord], in hub: Hub?, _ store: StoreID, by device: String
    ) throws(Problem) -> [Hub.Refusal] {
        let name = store.world
        let settings = world(name).settings
        guard let limits = settings.limits, !changes.isEmpty else { return [] }
        let refusals = (hub ?? Hub()).refusals(of: changes, limits: limits)
        guard settings.isStrict, let refusal = refusals.first else { return refusals }
        let violation = EmulatedWorld.Violation(refusal, time: time(in: name), device: device, store: store.name)
        change(name) { $0.record(violation) }
        publish(.violation(violation), in: name)
        throw .strict(violation)
    }
}

extension EmulatedWorld.Violation {
    fileprivate init(_ refusal: Hub.Refusal, time: Int64, device: String, store: String) {
        let key = refusal.record.key.text.printable(scalarLimit: 128)
        self.init(
            time: time, device: device, store: store, call: "set(_, forKey: \"\(key)\")",
            detail: refusal.violation.reason, limit: refusal.reason.limit)
    }
}

extension SyncRejection.Reason {
    fileprivate var limit: Int {
        switch self {
        case .quota(let limit), .key(let limit): limit
        case .clock, .again: 0
        }
    }
}
