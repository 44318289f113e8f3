import Essentials

/// emulator.json in a user's data directory: how to reach the user's emulator that was started last.
package struct EmulatorStatus: Sendable, Equatable, Codable {
    private var version = 1
    package var processID: Int32
    /// `http://127.0.0.1:PORT`.
    package var url: String
    /// Those that were started before and may still run, the latest first; their own lists are absent.
    private var earlier: [EmulatorStatus]?

    package static let fileName = "emulator.json"
    package static let byteCount = 4_096

    package init(processID: Int32, url: String) {
        self.processID = processID
        self.url = url
    }

    /// The first of these, with as many others as the file may name; nil without any.
    package init?(_ running: [EmulatorStatus]) {
        guard let first = running.first else { return nil }
        self = first
        earlier = running.count > 1 ? Array(running[1...].prefix(Self.earlierCount)) : nil
    }

    private static let earlierCount = 16

    /// This emulator and those before it whose processes still run.
    package var running: [EmulatorStatus] {
        ([self] + (earlier ?? [])).filter { ProcessID.isRunning($0.processID, ofAnyUser: true) }
            .map { Self(processID: $0.processID, url: $0.url) }
    }
}
