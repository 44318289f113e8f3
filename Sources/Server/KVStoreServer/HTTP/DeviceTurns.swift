/// How long the requests of each device have kept an event loop busy in one tick. Between two ticks the loop reads what
/// others have sent, so that a device that sends expensive requests on many connections holds up others for one turn.
struct DeviceTurns {
    /// More than 64 writes take.
    static let nanosecondLimit: Int64 = 10_000_000

    private var tick: UInt64 = 0
    private var nanoseconds: [String: Int64] = [:]
    /// The sum of all devices.
    private var total: Int64 = 0

    mutating func charge(_ device: String, _ duration: Int64, in tick: UInt64) {
        if self.tick != tick {
            self.tick = tick
            nanoseconds.removeAll(keepingCapacity: true)
            total = 0
        }
        nanoseconds[device, default: 0] += duration
        total += duration
    }

    func isOver(_ device: String?, in tick: UInt64) -> Bool {
        // Asked for every part of a request; before all together have had a turn's time, no device has.
        guard self.tick == tick, total >= Self.nanosecondLimit, let device else { return false }
        return nanoseconds[device, default: 0] >= Self.nanosecondLimit
    }
}
