package import Essentials
package import LocalFiles

/// The files of the gate: what is known, the rules of this machine and what is remembered of sessions.
///
/// None is there before a gate is set up or asked. What cannot be read is said with bytes that are no document, so that
/// whoever reads them sees damage and not absence.
package struct GateFiles: Sendable {
    private let directory: LocalDirectory
    /// What is remembered of each session.
    package let sessionDirectory: LocalDirectory
    /// Numbers and the rules of the account, kept by the pusher and the viewer.
    package let usage: LocalFile
    /// A person may edit it.
    package let rules: LocalFile

    private static let byteLimit = 131_072
    private static let sessionLimit = 256
    private static let sessionAge: TimeInterval = 8 * 86_400

    package init(_ directories: UserDirectories = UserDirectories()) {
        directory = LocalDirectory(directories.state + "/gate")
        sessionDirectory = LocalDirectory(directory.path + "/sessions")
        usage = LocalFile(directory.path + "/usage.json")
        rules = LocalFile(directories.config + "/gate.json")
    }

    /// Whether somebody has a use for the file of numbers.
    package var isInUse: Bool { FileStatus.visible(at: directory.path) != nil }

    /// Nil without a file; empty for one that cannot be read.
    package func read(_ file: LocalFile) -> Data? {
        do throws(FileError) {
            return try file.read(byteLimit: Self.byteLimit)?.data
        } catch {
            return Data()
        }
    }

    /// Replaces a file unless it has these bytes already.
    package func keep(_ data: Data, in file: LocalFile) throws(FileError) {
        guard read(file) != data else { return }
        try directory.create()
        try file.directory.create()
        try file.replace(with: data, durability: .cached)
    }

    /// Keeps the numbers, while no other process does.
    ///
    /// - Parameter merge: the bytes to keep, from those that are kept; nil for too many.
    package func keepUsage(_ merge: (Data?) -> Data?) {
        // Without room the former numbers stay, and are old soon.
        guard (try? directory.create()) != nil, let lock = try? usage.lock() else { return }
        defer { lock.unlock() }
        if let bytes = merge(read(usage)) { try? keep(bytes, in: usage) }  // As above.
    }

    /// Nil for an id that is no name of a file.
    package func session(_ id: String) -> LocalFile? {
        let isName = id.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || Character(Unicode.Scalar(byte)).isASCIILetterOrDigit
        }
        return isName && (1...128).contains(id.utf8.count) ? LocalFile("\(sessionDirectory.path)/\(id).json") : nil
    }

    /// What is remembered of sessions, by id.
    package func sessions() -> [String: Data] {
        var sessions: [String: Data] = [:]
        for name in sessionNames() {
            let id = String(name.dropLast(5))
            sessions[id] = session(id).flatMap(read)
        }
        return sessions
    }

    /// Forgets sessions that nothing has been said to for a week.
    package func removeOldSessions(at now: Date) {
        for name in sessionNames() {
            let file = LocalFile("\(sessionDirectory.path)/\(name)")
            guard let status = FileStatus.visible(at: file.path),
                now.timeIntervalSince(status.modificationDate) > Self.sessionAge
            else { continue }
            try? file.remove(durability: .cached)  // It is looked at again with the next session.
        }
    }

    private func sessionNames() -> [String] {
        // Without a directory there are none.
        let listed = try? sessionDirectory.entries(limit: Self.sessionLimit)
        return (listed?.entries ?? []).map(\.name).filter { $0.hasSuffix(".json") }.sorted()
    }
}

extension Character {
    fileprivate var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
