import Essentials

/// A tool of the system that is run to its end, such as `systemctl`.
package struct SystemTool {
    package struct Outcome {
        package var status: Int32
        /// Standard output, then standard error.
        package var lines: [String]

        package var isSuccess: Bool { status == 0 }
    }

    private let path: String

    /// Nil when no directory of the search path contains it.
    package init?(_ name: String) {
        guard let path = SearchPath().path(of: name) else { return nil }
        self.path = path
    }

    /// - Parameter variables: of its environment, besides those of this program.
    package func run(_ arguments: [String], variables: [String: String] = [:]) -> Outcome {
        let process = BoundedProcess(
            path, arguments: arguments,
            variables: ProcessInfo.processInfo.environment.merging(variables) { $1 },
            limits: .init(seconds: nil, errorByteCount: 65_536), group: .shared)
        guard case .exited(let status) = process.end else { return Outcome(status: -1, lines: ["cannot run \(path)"]) }
        let lines = [process.output, process.errors].flatMap {
            String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return Outcome(status: status, lines: lines)
    }
}
