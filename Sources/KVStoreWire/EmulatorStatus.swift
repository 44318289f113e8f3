import Essentials

/// emulator.json in a user's data directory: how to reach the user's emulator that was started last.
package struct EmulatorStatus: Sendable, Equatable, Codable {
    private var version = 1
    package var processID: Int32
    /// `http://127.0.0.1:PORT`.
    package var url: String

    package static let fileName = "emulator.json"
    package static let byteCount = 4_096

    package init(processID: Int32, url: String) {
        self.processID = processID
        self.url = url
    }

    /// Whether the process still exists.
    package var isRunning: Bool { DaemonStatus.isRunning(processID) }
}
