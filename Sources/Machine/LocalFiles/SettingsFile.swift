import Essentials

/// Settings of a program that hold on this machine alone, as a JSON object that a person may edit. Calls block.
package struct SettingsFile<Settings: Codable & Equatable>: Sendable {
    package let file: LocalFile
    /// Whether a file that somebody else could have written is refused, because it names a command.
    private let mustBeOwn: Bool

    private let byteLimit = 64 * 1_024

    package init(_ path: String, mustBeOwn: Bool = false) {
        file = LocalFile(path)
        self.mustBeOwn = mustBeOwn
    }

    /// Nil without a file.
    package func read() throws(FileError) -> Settings? {
        guard let content = try file.read(byteLimit: byteLimit) else { return nil }
        func invalid(_ reason: String) -> FileError {
            FileError(operation: "read", path: file.path, cause: .invalid(reason))
        }
        guard
            !mustBeOwn || content.status.permissions & 0o022 == 0 && [0, geteuid()].contains(content.status.owner)
        else { throw invalid("others may write it; run chmod 600 \(file.path)") }
        // The error names the file and the next step.
        guard let settings = try? JSONDecoder().decode(Settings.self, from: content.data) else {
            throw invalid("these are not settings of this program; correct or remove the file")
        }
        return settings
    }

    /// Reads, changes and writes them under a lock. Without a file the change begins with `initial`.
    package func update(from initial: Settings, _ change: (inout Settings) -> Void) throws(FileError) {
        let lock = try file.lock()
        defer { lock.unlock() }
        let former = try read() ?? initial
        var settings = former
        change(&settings)
        guard settings != former else { return }
        let data = JSONEncoder.sorted(isIndented: true).data(of: settings)
        try file.resolvingLinks().replace(with: data + Data("\n".utf8))
    }
}
