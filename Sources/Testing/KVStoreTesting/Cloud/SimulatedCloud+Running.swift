import KVStore
import KVStoreCore
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// Advances virtual time and performs everything that becomes due. Observers have been called when it returns, at
    /// the virtual time of the change; one that never returns keeps this from returning, too. If observers respond to
    /// notifications with others endlessly, it stops performing; `settle` then says who does.
    ///
    /// ```swift
    /// phone.delay = .seconds(5)
    /// phone.store.set("dark", forKey: "theme")
    /// await cloud.advance(by: .seconds(1))
    /// #expect(mac.store.string(forKey: "theme") == nil)         // on its way
    /// await cloud.advance(by: .seconds(20))
    /// #expect(mac.store.string(forKey: "theme") == "dark")
    /// ```
    public func advance(by duration: Duration) async {
        let end = virtualClock.milliseconds + max(0, duration.milliseconds)
        _ = await drainAll()
        while true {
            let step = await step(through: end)
            if step == .endless || step == .nothingDue && !hasCompletions { break }
            await letTasksRun(onlyAfterCompletions: true)
        }
        virtualClock.advance(to: end)
        record("clock") { $0.following = false }
    }

    /// Runs until a round trip that is waited for is over. Fails if it cannot end by itself.
    func runUntilCompleted(_ driver: CloudDriver, waiter: UInt64) async throws(SyncTransportError) -> SyncReport {
        while true {
            if let completion = driver.completion(of: waiter) {
                return try completion.outcome.get()
            }
            if Task.isCancelled { throw .unreachable("cancelled") }
            if driver.isStopped { throw .unreachable("the store was closed") }
            let machine = driver.program.machine
            if machine.network.withLock({ $0.holdsExchangesForever }) {
                throw .unreachable("the messages of \(machine.name) are held until release()")
            }
            switch await step(through: .max, unless: { driver.completion(of: waiter) != nil }) {
            case .performed: break
            case .nothingDue: throw .unreachable("nothing is under way that could answer")
            case .endless: throw .unreachable("observers answer notifications with others endlessly")
            }
        }
    }

    var machines: [Machine] {
        state.withLock { $0.machines.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// A copy, because what is under way is asked of replicas, under whose locks stores schedule.
    var agenda: Agenda<Action> { state.withLock { $0.agenda } }

    enum Step {
        case nothingDue
        case performed
        /// Observers responded to notifications with others, again and again.
        case endless
    }

    /// Performs the next action if it is due by `limit`, and waits until observers have been called. Performs nothing
    /// if `isDone`.
    func step(through limit: Int64, unless isDone: () -> Bool = { false }) async -> Step {
        await stepping.lock()
        defer { stepping.unlock() }
        guard await drain() else { return .endless }
        guard !isDone() else { return .performed }
        guard let (time, action) = state.withLock({ $0.agenda.popFirst(through: limit) }) else {
            return .nothingDue
        }
        virtualClock.advance(to: time)
        perform(action)
        // Events of one stream that arrive together are delivered together: observers run on another thread, and
        // waiting for them is what costs most.
        if case .message(.stream, let driver) = action {
            while let (_, next) = state.withLock({ state in
                state.agenda.popFirst(through: time) { $0.isStreamEvent(for: driver) }
            }) { perform(next) }
        }
        if case .wake(let sleeper) = action, sleeper.wake() {
            state.withLock { $0.writes.wakeCount += 1 }
            await sleeper.hasResumed.value
            await letTasksRun()
        }
        // A store without a driver does not report what it announces.
        if case .local(let program, _, _, _) = action { markUndelivered(program) }
        let isQuiet = await drain()
        action.program?.isDelivering = false
        return isQuiet ? .performed : .endless
    }

    /// Waits until all observers have been called; false if they respond endlessly.
    func drainAll() async -> Bool {
        await letTasksRun()
        await letMainActorRun()
        let isQuiet = await deliverAll()
        await letMainActorRun()
        return isQuiet
    }

    private func deliverAll() async -> Bool {
        await stepping.lock()
        defer { stepping.unlock() }
        for machine in machines { for program in machine.programs { markUndelivered(program) } }
        return await drain()
    }

    /// Delivers what programs have announced, and what their observers announce in answer.
    private func drain() async -> Bool {
        for round in 0..<WriteCounts.limit {
            let next = state.withLock { state in
                state.delivering = state.undelivered.isEmpty ? nil : state.undelivered.removeFirst()
                return state.delivering
            }
            guard let next else { return true }
            if round > 100, Task.isCancelled { break }
            await next.run?.store.drainDeliveries()
            // Here and not while they are posted, so that the trace has one order.
            for (notification, responses) in next.takeUnlogged() {
                take(notification, of: next)
                for response in responses.events { recorder?.append(response) }
            }
            next.isDelivering = false
        }
        state.withLock { $0.delivering = nil }
        return false
    }

    private func perform(_ action: Action) {
        if action.isMessage, !arrives(action) { return }
        switch action {
        case .local(_, let life, _, let body): if !life.isOver { body() }
        case .wake: break
        case .faultsEnd(let machine): endFaults(of: machine)
        case .execute(let ready, let driver): driver.execute(ready)
        case .deliver(.woke, let driver):
            if !waitsForNetwork(driver) { driver.deliver(.woke, in: self) }
        case .deliver(let event, let driver), .message(let event, let driver):
            driver.deliver(event, in: self)
        case .request(let driver, let outgoing):
            receive(outgoing.request, id: outgoing.id, from: driver)
        case .openStream(let driver, let id, let since):
            openStream(of: driver, id: id, since: since)
        }
    }
}
