import KVStoreCore
package import KVStoreLog
package import KVStoreSimulation

/// A frame that a log has visited.
package struct SeenFrame: Equatable, CustomStringConvertible {
    package var kind: UInt8
    package var bytes: [UInt8]
    package var position: LogPosition

    package init(_ frame: LogFrame) {
        kind = frame.kind
        bytes = Array(frame.payload)
        position = frame.position
    }

    package var payload: LogPayload { LogPayload(kind: kind, bytes: bytes) }

    package var description: String {
        "\(position.segment):\(position.offset) kind \(kind), \(bytes.count) bytes"
    }
}

extension SegmentedLog {
    /// A log for tests, not opened yet.
    package static func over(
        _ storage: any LogStorage, segmentByteCount: Int = 4_096, isShared: Bool = true,
        salvages: Bool = false, id: UInt64 = 7
    ) -> SegmentedLog {
        SegmentedLog(
            storage: storage,
            options: Options(segmentByteCount: segmentByteCount, isShared: isShared, newLogID: id, salvages: salvages))
    }

    package func openReading() throws(LogError) -> (recovery: LogRecovery, frames: [SeenFrame]) {
        var frames: [SeenFrame] = []
        let recovery = try open { frames.append(SeenFrame($0)) }
        return (recovery, frames)
    }

    /// Appends under the lock; returns what others had appended.
    @discardableResult
    package func appendExclusively(_ payloads: [LogPayload]) throws(LogError) -> [SeenFrame] {
        var found: [SeenFrame] = []
        try exclusively(visit: { found.append(SeenFrame($0)) }) { () throws(LogError) in
            _ = try append(payloads)
        }
        return found
    }

    package func readNew() throws(LogError) -> [SeenFrame] {
        var found: [SeenFrame] = []
        try catchUp(isLocked: false) { found.append(SeenFrame($0)) }
        return found
    }
}

extension LogPayload {
    /// A payload that identifies itself: a number, then bytes derived from it.
    package static func numbered(_ number: Int, byteCount: Int = 24) -> LogPayload {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt64(number))
        var random = SplitMix64(seed: UInt64(number))
        while bytes.count < byteCount {
            bytes.append(UInt8(truncatingIfNeeded: random.next()))
        }
        return LogPayload(kind: UInt8(number % 254 + 1), bytes: Array(bytes.prefix(byteCount)))
    }
}

/// Reads whatever a disk holds with a fresh process.
package func framesOf(
    _ disk: SimulatedDisk, salvages: Bool = false
) throws(LogError) -> (recovery: LogRecovery, frames: [SeenFrame]) {
    try SegmentedLog.over(disk.storage(), salvages: salvages).openReading()
}
