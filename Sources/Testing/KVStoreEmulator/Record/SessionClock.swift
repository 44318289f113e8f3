import Synchronization

/// The clock of an emulator, in milliseconds since 1970. While a session is recorded, time stands still in each step,
/// so that a replay has the same. Safe to call from any thread.
final class SessionClock: Sendable {
    private let real: @Sendable () -> Int64
    private let frozen = Mutex<Int64?>(nil)

    init(_ real: @escaping @Sendable () -> Int64) { self.real = real }

    func now() -> Int64 { frozen.withLock { $0 } ?? real() }

    /// Takes the present time as that of the next step, or the given one.
    func freeze(at time: Int64? = nil) -> Int64 {
        let time = time ?? real()
        frozen.withLock { $0 = time }
        return time
    }

    /// Goes on after a step.
    func thaw() { frozen.withLock { $0 = nil } }
}
