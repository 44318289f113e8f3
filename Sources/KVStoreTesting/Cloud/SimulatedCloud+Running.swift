import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// Advances virtual time and performs everything that becomes due. Observers have been called when it returns, at
    /// the virtual time of the change.
    ///
    /// ```swift
    /// phone.delay = .seconds(5)
    /// phone.store.set("dark", forKey: "theme")
    /// await cloud.advance(by: .seconds(1))      // on its way
    /// await cloud.advance(by: .seconds(20))     // there
    /// ```
    public func advance(by duration: Duration) async {
        let end = clock.milliseconds + max(0, duration.milliseconds)
        await drainAll()
        while await step(through: end) {}
        clock.advance(to: end)
    }

    /// Runs until nothing is under way: everything that could be sent was delivered and answered, everything is durable,
    /// and all observers have been called. Virtual time advances as needed.
    ///
    /// An offline device with pending changes counts as at rest. Readers of `changes` have received their changes, and
    /// run when Swift next schedules them.
    ///
    /// - Parameter limit: the maximum virtual time.
    /// - Throws: `CloudError.stillMoving` if events continue past the limit, as when two devices respond to each other's
    ///   changes with changes; `CloudError.held` if everything left waits for `release()`.
    public func settle(within limit: Duration = .seconds(3_600)) async throws(CloudError) {
        let end = clock.milliseconds + max(0, limit.milliseconds)
        await drainAll()
        while true {
            let moving = state.withLock { $0.agenda.actions.filter(\.isUnderWay) }
            if moving.isEmpty { break }
            guard await step(through: end) else {
                throw .stillMoving(
                    after: limit, what: Array(Set(moving.map(\.description)).sorted().prefix(10)))
            }
        }
        let held = machines.flatMap { $0.network.withLock { $0.held.map(\.description) } }
        if !held.isEmpty { throw .held(what: held) }
    }

    /// Runs until a round trip that is waited for is over. Fails if it cannot end by itself.
    func runUntilCompleted(
        _ driver: CloudDriver, waiter: UInt64
    ) async throws(SyncTransportError) -> SyncReport {
        while true {
            if let completion = driver.completion(of: waiter) {
                return try completion.outcome.get()
            }
            if Task.isCancelled { throw .unreachable("cancelled") }
            if driver.isStopped { throw .unreachable("the store was closed") }
            let machine = driver.program.machine
            if machine.network.withLock({ $0.isHeld && !$0.held.isEmpty }) {
                throw .unreachable("the messages of \(machine.name) are held until release()")
            }
            guard await step(through: .max) else {
                throw .unreachable("nothing is under way that could answer")
            }
        }
    }

    var machines: [Machine] {
        state.withLock { $0.machines.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Performs the next action if it is due by `limit`, and waits until observers have been called.
    private func step(through limit: Int64) async -> Bool {
        await stepping.lock()
        defer { stepping.unlock() }
        guard let (time, action) = state.withLock({ $0.agenda.popFirst(through: limit) }) else {
            return false
        }
        clock.advance(to: time)
        perform(action)
        await drain(action.program)
        return true
    }

    private func drainAll() async {
        await stepping.lock()
        defer { stepping.unlock() }
        for machine in machines { for program in machine.programs { await drain(program) } }
    }

    private func drain(_ program: Program) async {
        await program.run?.store.drainDeliveries()
        // Here and not while they are posted, so that the trace has one order.
        for notification in program.takeUnnoted() { take(notification, of: program) }
        program.isDelivering = false
    }

    private func perform(_ action: Action) {
        if action.isMessage, !arrives(action) { return }
        switch action {
        case .local(_, let life, _, let body): if !life.isOver { body() }
        case .execute(let ready, let driver): driver.execute(ready)
        case .deliver(let event, let driver), .message(let event, let driver):
            driver.deliver(event, in: self)
        case .request(let driver, let outgoing):
            receive(outgoing.request, id: outgoing.id, from: driver)
        case .openStream(let driver, let id, let since):
            openStream(of: driver, id: id, since: since)
        }
    }
}
