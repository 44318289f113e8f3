public import Foundation

/// The folder of status line captures.
///
/// Several sessions write at the same time, each its own file, whole or not at all.
public struct ClaudeStatuslineStore: Sendable {
    /// Captures kept; the oldest beyond that are removed.
    static let captureLimit = 64
    /// Age from which a capture is removed: every window in it is over.
    static let ageLimit: TimeInterval = 8 * 86_400
    /// A capture that says nothing new is not written again before this time has passed.
    static let rewriteInterval: TimeInterval = 10
    private static let statuslineByteLimit = 1_048_576

    public let folder: String

    public init(_ environment: SourceEnvironment) {
        folder = Self.folder(in: environment)
    }

    /// `$XDG_STATE_HOME/ubiquity/claude-statusline`, `~/.local/state` where that is not set.
    static func folder(in environment: SourceEnvironment) -> String {
        let state =
            environment.absolutePath(variable: "XDG_STATE_HOME")
            ?? environment.home + "/.local/state"
        return state + "/ubiquity/claude-statusline"
    }

    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        case cannotWrite(path: String, reason: String)

        public var description: String {
            switch self {
            case .cannotWrite(let path, let reason):
                "cannot keep the status line's limits in \(path): \(reason)"
            }
        }
    }

    /// Keeps what a status line's input says about the limits.
    ///
    /// - Returns: true when a file was written; false when the input held no limits, or nothing
    ///   that was not known seconds ago.
    /// - Throws: `Failure`; the former capture is then as it was.
    @discardableResult
    public func keep(statusline: Data, at now: Date) throws(Failure) -> Bool {
        guard statusline.count <= Self.statuslineByteLimit,
            var capture = ClaudeStatuslineCapture(statusline: statusline, capturedAt: now)
        else { return false }
        let path = folder + "/" + capture.session + ".json"
        let earlier = earlierCapture(path)
        if let earlier {
            capture = capture.merged(with: earlier)
            if capture.adds(nothingTo: earlier, within: Self.rewriteInterval) { return false }
        }
        do throws(FileTrouble) {
            try PrivateFile.replace(path, with: capture.document)
        } catch {
            throw .cannotWrite(path: path, reason: error.words)
        }
        if earlier == nil { prune(at: now) }
        return true
    }

    /// The capture files, newest first.
    static func files(in folder: String, budget: inout ScanBudget) -> FolderWalk {
        FolderWalk(roots: [folder], budget: &budget) { name in
            name.hasSuffix(".json") && ClaudeStatuslineCapture.isHash(String(name.dropLast(5)))
        }
    }

    private func earlierCapture(_ path: String) -> ClaudeStatuslineCapture? {
        var budget = ScanBudget(limits: ScanLimits(), monotonicSeconds: { 0 })
        let document = try? DocumentReader.read(path, followsLink: false, budget: &budget)
        return document?.fields.flatMap { ClaudeStatuslineCapture($0) }
    }

    private func prune(at now: Date) {
        var budget = ScanBudget(limits: ScanLimits(), monotonicSeconds: { 0 })
        let files = Self.files(in: folder, budget: &budget).newestFirst
        for (index, file) in files.enumerated() {
            let isOld = now.timeIntervalSince(file.facts.modifiedAt) > Self.ageLimit
            if index >= Self.captureLimit || isOld { PrivateFile.remove(file.path) }
        }
    }
}

extension ClaudeStatuslineCapture {
    /// True when the numbers are the same and the times differ by no more than `interval`.
    fileprivate func adds(
        nothingTo earlier: ClaudeStatuslineCapture, within interval: TimeInterval
    ) -> Bool {
        let age = capturedAt.timeIntervalSince(earlier.capturedAt)
        guard (0...interval).contains(age), windows.count == earlier.windows.count else {
            return false
        }
        return windows.allSatisfy { name, reading in
            earlier.windows[name].map {
                $0.usedPercent == reading.usedPercent && $0.resetsAt == reading.resetsAt
            } ?? false
        }
    }
}
