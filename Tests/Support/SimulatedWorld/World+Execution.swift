import KVStore
import KVStoreCore
import KVStoreSimulation
import KVStoreTesting

extension World {
    /// Executes what a replica requires. A program may be killed in the middle of it.
    func execute(_ ready: Ready, at address: ProcessAddress) throws(Violation) {
        if !ready.entries.isEmpty {
            throw violation("order of execution", "entries were left to append")
        }
        var execution = Execution(world: self, address: address)
        try ready.execute(on: &execution)
    }

    private struct Execution: ReadyExecutor {
        typealias Failure = Violation
        let world: World
        let address: ProcessAddress

        private var isRunning: Bool { world[address] != nil }

        func notify(_ change: StoreChange) throws(Violation) {
            world.notify(change, at: address)
        }

        func closeStream() { world[address]?.streamID = nil }

        func openStream(id: UInt64, since: SyncCursor) throws(Violation) {
            guard isRunning else { return }
            if world[address]?.streamID != nil {
                throw world.violation("one stream at a time", world.name(address))
            }
            world[address]?.streamID = id
            world.carry(.openStream(address, id: id, since: since), nil, of: address.device)
        }

        func send(_ outgoing: Ready.Outgoing, mustSync: Bool) throws(Violation) {
            guard isRunning else { return }
            try world.send(outgoing, mustSync: mustSync, from: address)
        }

        func wake(at milliseconds: Int64) {
            world.queue.add(.deliver(.woke, address), at: max(world.time, milliseconds))
        }

        func complete(_ completion: Ready.Completion) {}
    }

    private func notify(_ change: StoreChange, at address: ProcessAddress) {
        guard let process = self[address] else { return }
        let table = process.durable.replica.table
        let keys = change.keys.map { StoreKey($0) }.sorted()
        let versions = keys.map { "\($0) \(Self.describe(table[$0]?.record))" }
        log("notify", "\(name(address)) \(change.reason.rawValue) \(versions.joined(separator: ", "))")
        guard change.reason != .quotaViolationChange else { return }
        for key in keys { self[address]?.believed[key] = table.content(forKey: key) }
    }

    private func send(_ outgoing: Ready.Outgoing, mustSync: Bool, from address: ProcessAddress) throws(Violation) {
        let request = outgoing.request
        if strikesUnsynced() { return powerFails(address.device) }
        if mustSync { guard makeDurable(address) else { return } }
        guard let process = self[address] else { return }
        if !process.durable.replica.state.initialSyncCompleted, !request.changes.isEmpty {
            throw violation(
                "a fresh install never overwrites",
                "\(name(address)) sent \(request.changes.count) keys before its first download")
        }
        if process.requestID != nil { throw violation("one request at a time", name(address)) }
        self[address]?.requestID = outgoing.id
        try checkSent(request, from: address)
        log(
            "send",
            "\(name(address)) since \(request.since.map { "\($0)" } ?? "nothing") "
                + "changes \(request.changes.count)")
        carry(.request(address, id: outgoing.id, request, sent: time), .request, of: address.device)
        queue.add(.deliver(.answered(id: outgoing.id, .failure(.unreachable("timed out"))), address), at: time + 30_000)
        // What was sent must survive here too, or its stamps could be issued again.
        if strikesUnsynced() { powerFails(address.device) }
    }
}
