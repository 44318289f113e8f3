package import Essentials
package import LocalFiles

/// The directory of status line captures.
///
/// Several sessions may write at the same time, each its own file, replaced as a whole.
package struct ClaudeStatuslineStore: Sendable {
    /// Captures kept; the oldest beyond that are removed.
    static let captureLimit = 64
    /// Seconds after which a capture is removed: every window in it has been reset.
    static let ageLimit: TimeInterval = 8 * 86_400
    private static let statuslineByteLimit = 1_048_576

    let directory: LocalDirectory

    package init(_ environment: SourceEnvironment) {
        directory = LocalDirectory(Self.directory(in: environment))
    }

    static func directory(in environment: SourceEnvironment) -> String {
        environment.stateDirectory + "/claude-statusline"
    }

    /// Saves the limits in the JSON that Claude Code passes to a status line.
    ///
    /// - Parameter account: the fingerprint of the account that is logged in, if known.
    /// - Returns: true when a file was written; false when the input contained no limits, or none that changed.
    /// - Throws: The former capture is then unchanged.
    @discardableResult
    package func save(statusline: Data, account: String? = nil, at now: Date) throws(FileError) -> Bool {
        guard statusline.count <= Self.statuslineByteLimit else { return false }
        return try save(ClaudeStatuslineCapture(statusline: statusline, account: account, capturedAt: now), at: now)
    }

    /// Saves what Claude Code's stream says, in the same way.
    @discardableResult
    package func save(
        _ message: ClaudeStreamMessage, account: String? = nil, at now: Date
    ) throws(FileError) -> Bool {
        try save(ClaudeStatuslineCapture(message, account: account, capturedAt: now), at: now)
    }

    private func save(_ capture: ClaudeStatuslineCapture?, at now: Date) throws(FileError) -> Bool {
        guard var capture else { return false }
        let path = directory.path + "/" + capture.session + ".json"
        let earlier = earlierCapture(path)
        if let earlier {
            capture = capture.merged(with: earlier)
            if capture == earlier { return false }
        }
        try directory.create()
        try LocalFile(path).replace(with: capture.document, durability: .cached)
        if earlier == nil { prune(at: now) }
        return true
    }

    /// The capture files, newest first.
    static func files(in directory: String, budget: inout ScanBudget) -> DirectoryWalk {
        DirectoryWalk(roots: [directory], budget: &budget) { name in
            name.hasSuffix(".json") && ClaudeStatuslineCapture.isHash(String(name.dropLast(5)))
        }
    }

    private func earlierCapture(_ path: String) -> ClaudeStatuslineCapture? {
        var budget = ScanBudget()
        // One that cannot be read is replaced.
        let document = try? budget.readDocument(path, followsLinks: false)
        return document?.fields.flatMap { ClaudeStatuslineCapture($0) }
    }

    private func prune(at now: Date) {
        var budget = ScanBudget()
        let files = Self.files(in: directory.path, budget: &budget).newestFirst
        for (index, file) in files.enumerated() {
            let isOld = now.timeIntervalSince(file.status.modificationDate) > Self.ageLimit
            // The next new session tries again.
            if index >= Self.captureLimit || isOld {
                try? LocalFile(file.path).remove(durability: .cached)
            }
        }
    }
}
