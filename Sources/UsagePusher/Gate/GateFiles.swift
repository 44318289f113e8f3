package import Essentials
package import LocalFiles
package import UsageState

/// The files of the gate: the usage of all machines, the rules of this machine and the state of sessions.
///
/// None exists before a rule is set or a hook is called. A file that cannot be read is empty data, so that it counts as
/// damaged and not as missing.
package struct GateFiles: Sendable {
    private let directory: LocalDirectory
    /// The state of each session.
    package let sessionDirectory: LocalDirectory
    /// The usage of all machines and the rules of the account.
    package let usage: LocalFile
    /// Users may edit it.
    package let rules: LocalFile

    private static let byteLimit = 131_072
    private static let sessionLimit = 4_096
    private static let sessionAge: TimeInterval = 8 * 86_400

    package init(_ directories: UserDirectories = UserDirectories()) {
        directory = LocalDirectory(directories.state + "/gate")
        sessionDirectory = LocalDirectory(directory.path + "/sessions")
        usage = LocalFile(directory.path + "/usage.json")
        rules = LocalFile(directories.config + "/gate.json")
    }

    /// Whether a rule was set or a hook was called on this machine.
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
    package func write(_ data: Data, to file: LocalFile) throws(FileError) {
        guard read(file) != data else { return }
        try directory.create()
        try file.directory.create()
        try file.replace(with: data, durability: .cached)
    }

    /// Rewrites the usage while no other process does, so that what was read later is written later.
    ///
    /// - Parameter read: reads the newest state of the store; nil for one that is too large.
    package func updateUsage(_ read: () -> Data?) {
        // Without room on the disk the former usage stays, and is stale soon.
        guard (try? directory.create()) != nil, let lock = try? usage.lock() else { return }
        defer { lock.unlock() }
        if let bytes = read() { try? write(bytes, to: usage) }  // As above.
    }

    /// Nil for an id that is no name of a file.
    package func session(_ id: String) -> LocalFile? {
        let isName = id.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || Character(Unicode.Scalar(byte)).isASCIILetterOrDigit
        }
        return isName && (1...128).contains(id.utf8.count) ? LocalFile("\(sessionDirectory.path)/\(id).json") : nil
    }

    /// Keeps the model of a session up to date, which Claude Code tells hooks at the start alone.
    ///
    /// - Parameter statusline: the input of its status line.
    package func updateModel(from statusline: Data) {
        guard isInUse, let fields = JSONFields(statusline), let model = fields.fields("model")?.text("id"),
            let file = fields.text("session_id").flatMap(session), let data = read(file)
        else { return }
        var state = GateSession(reading: data)
        guard state.model != model else { return }
        state.model = model
        try? write(state.data, to: file)  // The status line is printed again soon.
    }

    /// The states of sessions, by id.
    package func sessions() -> [String: Data] {
        var sessions: [String: Data] = [:]
        for name in sessionNames() {
            let id = String(name.dropLast(5))
            sessions[id] = session(id).flatMap(read)
        }
        return sessions
    }

    /// Removes sessions that have been idle for eight days.
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

extension GateRequest {
    /// With what the file system says of the directory: where its links lead, and if a budget is of a project, its
    /// project.
    package func located(for usage: GateUsage) -> GateRequest {
        guard let directory = directories.first else { return self }
        var request = self
        if let target = realpath(directory, nil) {
            request.directories.append(String(cString: target))
            free(target)
        }
        guard usage.hasProjects else { return request }
        let project = LedgerProjects.hash(ofDirectory: directory, home: UserDirectories().home)
        request.project = usage.projects?[project] ?? project
        return request
    }
}

extension GateUsage {
    /// Why nobody can mean a provider; nil for one that was pushed from any machine, or that can be. A plug-in may push
    /// any.
    package func misspelling(of provider: String) -> String? {
        // Settings that cannot be read have no plug-ins.
        guard (try? PusherConfigurationFile().read().0.plugins.isEmpty) ?? true else { return nil }
        return GateRule.misspelling(
            of: provider, in: self, sources: UsageSources.all.map { ($0.providerID, $0.providerName) })
    }
}
