package import Essentials
package import SnapshotModels

/// Keeps one device's history, and says when it is to be written. A value without a clock.
///
/// A value is written when a slot begins, a mark is set, or a percentage has moved by 5 points since it was written:
/// about once a quarter of an hour while a tool is in use, and never while nothing changes. It has everything, so one
/// that could not be written is made up for by the next.
package struct HistoryRecorder: Sendable {
    /// Half percents.
    private static let writtenMovement = 10

    package private(set) var history = UsageHistory()
    private var written: Data?
    private var writtenLevels: [WindowIdentity: PercentLevel] = [:]
    /// The stored value is of a later version of this program.
    private let isSuspended: Bool

    /// - Parameter stored: the value of the device's key. One that is no history is replaced; one of a later version is
    ///   left alone.
    package init(stored: Data?) {
        written = stored
        do throws(HistoryCodecError) {
            if let stored { history = try HistoryCodec.decode(stored) }
            isSuspended = false
        } catch {
            if case .newer = error { isSuspended = true } else { isSuspended = false }
        }
        writtenLevels = history.windows.mapValues(\.last.level)
    }

    /// Adds what a push of this device states; estimates as such.
    ///
    /// - Parameter byteLimit: of the value.
    /// - Returns: the value to write now; nil if none is due or nothing has changed.
    package mutating func record(_ snapshot: SyncedUsageSnapshot, byteLimit: Int = HistoryCodec.byteLimit) -> Data? {
        guard !isSuspended else { return nil }
        let changes = history.record(snapshot.providers, now: snapshot.syncTimestamp)
        let isDue = changes.contains { identity, change in change == .slot || change == .level && hasMoved(identity) }
        guard isDue else { return nil }
        let data = HistoryCodec.encode(history, byteLimit: min(byteLimit, HistoryCodec.byteLimit))
        writtenLevels = history.windows.mapValues(\.last.level)
        guard data != written else { return nil }
        written = data
        return data
    }

    private func hasMoved(_ identity: WindowIdentity) -> Bool {
        let level = Int(history.windows[identity]?.last.level.halves ?? 0)
        let written = Int(writtenLevels[identity]?.halves ?? 0)
        return abs(level - written) >= Self.writtenMovement
    }
}
