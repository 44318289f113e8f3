import Foundation

/// A tool of the system that is run to its end, such as `systemctl`.
struct SystemTool {
    struct Outcome {
        var status: Int32
        /// Standard output and standard error.
        var lines: [String]

        var isSuccess: Bool { status == 0 }
    }

    private let url: URL

    /// Nil when no directory of the search path contains it.
    init?(_ name: String) {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let candidates = path.split(separator: ":").map { "\($0)/\(name)" }
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else { return nil }
        url = URL(fileURLWithPath: found)
    }

    func run(_ arguments: String...) -> Outcome {
        let process = Process()
        let output = Pipe()
        process.executableURL = url
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            return Outcome(status: -1, lines: ["cannot run \(url.path)"])
        }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        return Outcome(status: process.terminationStatus, lines: lines)
    }
}
