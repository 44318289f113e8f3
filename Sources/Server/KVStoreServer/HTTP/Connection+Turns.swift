import NIOCore

/// The part of the connection in its device's turn.
extension Connection {
    /// Whether the device has had its turn in this tick, on whichever connections.
    var isTurnOver: Bool { table.turns.isOver(identity?.device.id, in: table.tick) }

    /// Goes on later; not in this tick, in which nothing else would be read.
    func pause() {
        guard !isPaused else { return }
        isPaused = true
        table.pause(self)
    }

    /// Does what costs time, for which the device's turn pays.
    func work(_ body: () -> Void) {
        let isOutermost = workStart == nil
        if isOutermost { workStart = .now() }
        body()
        payForWork()
        if isOutermost { workStart = nil }
    }

    /// Charges what has been done since the last payment.
    func payForWork() {
        guard let start = workStart, let device = identity?.device.id else { return }
        let now = NIODeadline.now()
        table.turns.charge(device, (now - start).nanoseconds, in: table.tick)
        workStart = now
        // The next turn begins with the next tick, which must come.
        if isTurnOver { table.beginTick() }
    }
}
