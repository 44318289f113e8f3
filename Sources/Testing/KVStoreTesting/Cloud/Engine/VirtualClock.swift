import Foundation
import KVStoreCore
import Synchronization

/// Milliseconds since the simulated cloud began; they pass only when somebody says so.
final class VirtualClock: Sendable {
    private let elapsed = Mutex<Int64>(0)

    /// The true time at the beginning, in milliseconds since 1970: 2026-09-18 12:00:00 UTC.
    private static let start: Int64 = 1_789_732_800_000

    var milliseconds: Int64 { elapsed.withLock { $0 } }

    /// The true time, in milliseconds since 1970.
    var wall: Int64 { Self.start + milliseconds }

    /// The time of a device whose clock is ahead by so many milliseconds.
    func instant(aheadBy error: Int64 = 0) -> Instant {
        let now = milliseconds
        return Instant(wall: Self.start + now + error, monotonic: now)
    }

    func advance(to time: Int64) { elapsed.withLock { $0 = max($0, time) } }

    /// As seconds with three digits.
    static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1_000).\(String(milliseconds % 1_000 + 1_000).dropFirst())"
    }

    /// The virtual time at a true time.
    static func milliseconds(at date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1_000).rounded()) - start
    }

    static func date(_ wall: Int64) -> Date { Date(timeIntervalSince1970: Double(wall) / 1_000) }
}
