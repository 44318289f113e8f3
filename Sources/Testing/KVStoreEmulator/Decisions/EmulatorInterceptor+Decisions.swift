import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import KVStoreWire
import KVStoreServer

/// What an emulator remembers of the changes that it decides about. For the bodies of `perform`.
extension EmulatorInterceptor {
    /// As `LogEngine.sync`.
    func sync(
        _ message: SyncRequest, store: StoreID, mayCreate: Bool, by device: Device, in state: inout LogEngine.State
    ) throws(Problem) -> SyncResponse {
        let refusals = try emulation.refusals(of: message.changes, in: state.ledger.hub(store), store, by: device.name)
        var allowed = message
        allowed.changes.removeAll { change in refusals.contains { $0.record == change } }
        let before = state.entries(of: message.changes, in: store)
        var response = try engine.sync(allowed, store: store, mayCreate: mayCreate, in: &state)
        tellReplica(of: device, aboutFormerAccountIn: &response, to: message, store, state)
        response.rejections += refusals.map { SyncRejection($0.record, $0.reason) }
        emulation.logSync(
            message, response, of: store, by: device, before: before,
            after: state.entries(of: message.changes, in: store))
        return response
    }

    /// A replica takes the values of its device's former account for ones that the daemon has lost, and would send them
    /// to the present account. Tells it that what it has acknowledged is known, and gone. A replica asks with the
    /// cursor of the former account once, and then without one.
    private func tellReplica(
        of device: Device, aboutFormerAccountIn response: inout SyncResponse, to request: SyncRequest, _ store: StoreID,
        _ state: LogEngine.State
    ) {
        if let since = request.since {
            let isForeign = state.belongsToOtherAccount(since.epoch, than: store)
            emulation.changePresent(store.world) {
                $0.devices[device.name]?.formerCursors[store.name] = isForeign ? since : nil
            }
        }
        let former = emulation.world(store.world).devices[device.name]?.formerCursors[store.name]
        guard let former, response.isInitial, !response.hasMore else { return }
        response.lineage.append(former)
        response.horizon = max(response.horizon, former.sequence + 1)
    }

    /// As `LogEngine.write`.
    func write(
        _ content: StoreRecord.Content, _ key: StoreKey, _ store: StoreID, if precondition: Precondition,
        by device: String,
        in state: inout LogEngine.State
    ) throws(Problem) -> SequencedRecord {
        let former = state.ledger.entry(of: key, in: store)
        try precondition.check(former, writing: content)
        do throws(Problem) {
            let record = StoreRecord(
                key: key,
                stamp: .next(after: former?.record.stamp, now: engine.options.now(of: store.account), replica: replica),
                content: content)
            let refusals = try emulation.refusals(of: [record], in: state.ledger.hub(store), store, by: device)
            if let refusal = refusals.first { throw Problem(refusal.reason) }
            let entry = try engine.write(
                content, forKey: key, store: store, if: .none, replica: replica, in: &state)
            if entry != former {
                emulation.logWrite(entry, replacing: former?.record, in: store, by: device)
            }
            return entry
        } catch {
            if let limit = error.limit, error == Problem(.quota(limit: limit)) {
                emulation.decisions.append(
                    [
                        Decision(
                            key, incoming: nil, present: former?.record, winner: .present,
                            reason: .refusedForQuota(limit: Int64(limit)))
                    ], in: store, by: device, at: emulation.time(of: store.account))
            }
            throw error
        }
    }
}

extension Emulation {
    /// The device that writes through `/emulator/v1/`.
    static let deviceName = "emulator"

    /// - Parameters:
    ///   - before: the entries of the changed keys before the request.
    ///   - after: those of them now.
    func logSync(
        _ request: SyncRequest, _ response: SyncResponse, of store: StoreID, by device: Device,
        before: [StoreKey: SequencedRecord], after: [StoreKey: SequencedRecord]
    ) {
        decisions.register(request.replica, of: device.name, world: store.world)
        decisions.append(
            Decision.made(
                on: request.changes, rejections: response.rejections, before: before.mapValues(\.record),
                after: after.mapValues(\.record)), in: store, by: device.name, at: time(of: store.account))
        for change in request.changes {
            guard let entry = after[change.key], entry.record == change, entry != before[change.key] else { continue }
            logChange(entry, in: store, by: device.name)
        }
        publish(
            .sync(
                store: store.name, device: device.name, sent: request.changes.map(\.key),
                received: response.changes.map(\.record.key), rejected: response.rejections.map(\.key)), in: store)
    }

    func logWrite(_ entry: SequencedRecord, replacing former: StoreRecord?, in store: StoreID, by device: String) {
        let (key, record) = (entry.record.key, entry.record)
        decisions.append(
            Decision.made(on: [record], before: former.map { [key: $0] } ?? [:], after: [key: record]),
            in: store, by: device, at: time(of: store.account), isWriter: true)
        logChange(entry, in: store, by: device)
    }

    private func logChange(_ entry: SequencedRecord, in store: StoreID, by device: String) {
        publish(.change(store: store.name, entry, device: device), in: store)
    }
}
