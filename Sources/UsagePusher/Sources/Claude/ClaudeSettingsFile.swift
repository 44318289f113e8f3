package import Essentials
package import LocalFiles

/// Claude Code's `settings.json` in one of its homes.
package struct ClaudeSettingsFile: Sendable, Hashable {
    /// A change that is planned and shown before it is made.
    package struct Change: Sendable, Equatable {
        package var file: ClaudeSettingsFile
        /// Nil when there is no file yet.
        package var original: Data?
        /// Nil to remove the file.
        package var edited: Data?
        /// Whether the original is kept in the backup.
        package fileprivate(set) var isBackedUp: Bool

        package var difference: TextDifference? { TextDifference(from: original, to: edited) }
    }

    private static let byteLimit = 64 * 1_048_576
    private let file: LocalFile

    /// Nil for a home of another tool.
    package init?(home: ToolHome) {
        guard home.providerID == ClaudeSource().providerID else { return nil }
        file = LocalFile(home.path + "/settings.json")
    }

    package var path: String { file.path }
    package var backupPath: String { backup.path }
    private var backup: LocalFile { LocalFile(path + ".before-usage-push") }

    /// What adds the capture by `program`, a name or a path; nil when there is nothing to add.
    package func addition(program: String) throws(FileError) -> Change? {
        guard let original = try file.read(byteLimit: Self.byteLimit) else {
            return Change(file: self, original: nil, edited: ClaudeSettings.new(program: program), isBackedUp: false)
        }
        let settings = try settings(original.data)
        let edited = settings.addingCapture(program: program)
        guard edited != original.data else { return nil }
        let hasBackup = FileStatus.visible(at: backupPath) != nil
        return Change(
            file: self, original: original.data, edited: edited, isBackedUp: !settings.isCaptured || !hasBackup)
    }

    /// What removes the capture; nil when there is none.
    package func removal() throws(FileError) -> Change? {
        guard let original = try file.read(byteLimit: Self.byteLimit) else { return nil }
        let settings = try settings(original.data)
        let edited: Data
        do throws(JSONDocumentError) {
            edited = try settings.removingCapture()
        } catch {
            throw invalid(error)
        }
        guard edited != original.data else { return nil }
        // Without a backup there was no file.
        let isCreated = edited == Data("{}\n".utf8) && FileStatus.visible(at: backupPath) == nil
        return Change(file: self, original: original.data, edited: isCreated ? nil : edited, isBackedUp: false)
    }

    /// Replaces the file atomically, through symbolic links, and keeps its mode.
    ///
    /// - Throws: `changed` when the file is no longer what the change was planned for.
    package func apply(_ change: Change) throws(FileError) {
        let current = try file.read(byteLimit: Self.byteLimit)
        guard current?.data == change.original else {
            throw FileError(operation: "change", path: path, cause: .changed)
        }
        let target = try file.resolvingLinks()
        if change.isBackedUp, let original = change.original {
            try backup.replace(with: original)
        }
        guard let edited = change.edited else { return try target.remove() }
        try target.replace(with: edited, permissions: current?.status.permissions ?? 0o600)
        if try backup.read(byteLimit: Self.byteLimit)?.data == edited { try backup.remove() }
    }

    private func settings(_ text: Data) throws(FileError) -> ClaudeSettings {
        do throws(JSONDocumentError) {
            return try ClaudeSettings(text)
        } catch {
            throw invalid(error)
        }
    }

    private func invalid(_ error: JSONDocumentError) -> FileError {
        FileError(operation: "change", path: path, cause: .invalid("\(error); fix it and run this again"))
    }
}
