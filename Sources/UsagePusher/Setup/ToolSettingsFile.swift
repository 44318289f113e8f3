package import Essentials
package import LocalFiles

/// A tool's file of settings, to which parts are added, and from which they are removed again.
package struct ToolSettingsFile: Sendable, Hashable {
    /// A change that is planned and shown before it is made.
    package struct Change: Sendable, Equatable {
        package var file: ToolSettingsFile
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
    private let backup: LocalFile

    /// - Parameter backup: what is appended to the path for the file of before.
    init(_ path: String, backup: String) {
        file = LocalFile(path)
        self.backup = LocalFile(path + backup)
    }

    package var path: String { file.path }
    package var backupPath: String { backup.path }

    /// What adds a part; nil when there is nothing to add.
    ///
    /// - Parameters:
    ///   - isPresent: whether a former form of the part is there already.
    ///   - add: nil for a new file.
    func addition(
        _ isPresent: (Data) throws(JSONDocumentError) -> Bool, _ add: (Data?) throws(JSONDocumentError) -> Data
    ) throws(FileError) -> Change? {
        let original = try file.read(byteLimit: Self.byteLimit)?.data
        do throws(JSONDocumentError) {
            let edited = try add(original)
            guard edited != original else { return nil }
            let hasBackup = FileStatus.visible(at: backupPath) != nil
            let isBackedUp = try original.map { text throws(JSONDocumentError) in try !isPresent(text) || !hasBackup }
            return Change(file: self, original: original, edited: edited, isBackedUp: isBackedUp ?? false)
        } catch {
            throw invalid(error)
        }
    }

    /// What removes it; nil when there is none. Where nothing else has changed, it is the file of before.
    func removal(
        _ remove: (Data) throws(JSONDocumentError) -> Data,
        undoing add: ((Data) throws(JSONDocumentError) -> Data)? = nil
    ) throws(FileError) -> Change? {
        guard let original = try file.read(byteLimit: Self.byteLimit)?.data else { return nil }
        let before = try backup.read(byteLimit: Self.byteLimit)?.data
        do throws(JSONDocumentError) {
            var edited = try remove(original)
            guard edited != original else { return nil }
            if let before, let add, try add(before) == original { edited = before }
            // Without a backup there was no file.
            let isCreated = edited == Data("{}\n".utf8) && before == nil
            return Change(file: self, original: original, edited: isCreated ? nil : edited, isBackedUp: false)
        } catch {
            throw invalid(error)
        }
    }

    /// Replaces the file atomically, through symbolic links, and keeps its mode.
    ///
    /// - Throws: `changed` when the file is no longer what the change was planned for.
    package func apply(_ change: Change) throws(FileError) {
        let current = try file.read(byteLimit: Self.byteLimit)
        guard current?.data == change.original else {
            throw FileError(operation: "change", path: path, cause: .changed)
        }
        if current == nil { try file.directory.create() }
        let target = try file.resolvingLinks()
        if change.isBackedUp, let original = change.original {
            try backup.replace(with: original)
        }
        guard let edited = change.edited else { return try target.remove() }
        try target.replace(with: edited, permissions: current?.status.permissions ?? 0o600)
        if try backup.read(byteLimit: Self.byteLimit)?.data == edited { try backup.remove() }
    }

    private func invalid(_ error: JSONDocumentError) -> FileError {
        FileError(operation: "change", path: path, cause: .invalid("\(error); fix it and run this again"))
    }
}
