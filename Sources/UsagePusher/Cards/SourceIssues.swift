import Essentials
import LocalFiles
import SnapshotModels

extension FileError {
    /// Completes "cannot read <path>: …" for a tool's file.
    var sourceMessage: String {
        switch cause {
        case _ where isPermissionDenied: "permission denied; check its owner and mode"
        case .system(ELOOP): "its link leads back to itself"
        case .notAFile, .notADirectory, .system(EISDIR):
            "it is not the kind of file expected here"
        case .tooLarge: "it is \(message)"
        case .system, .invalid, .changed: message
        }
    }

    /// Whether there is something at the path: behind a directory that we may not search there may be nothing.
    var showsPresence: Bool { !isPermissionDenied || FileStatus.visible(at: path) != nil }

    func finding(title: String) -> SourceFinding {
        SourceFinding(path: path, title: title, detail: "cannot be read: \(sourceMessage)", isError: true)
    }
}

/// What kept a pass from reading everything. Numbers may then be missing, and none is known to be absent: a card says
/// this instead of what it would conclude from their absence.
struct SourceIssues: Sendable, Equatable {
    /// Those with `isError`.
    private(set) var errors: [SourceFinding]
    /// Whether a limit ended the pass.
    var isPartial: Bool

    init(_ findings: some Sequence<SourceFinding> = [], isPartial: Bool = false) {
        errors = findings.filter(\.isError)
        self.isPartial = isPartial
    }

    var isEmpty: Bool { errors.isEmpty && !isPartial }

    /// "/path: cannot be read: permission denied; check its owner and mode (and 2 more)"; nil without an issue.
    var reason: String? {
        guard let first = errors.first else { return isPartial ? "not all files have been read to their end" : nil }
        let more = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
        return "\(first.path): \(first.detail)\(more)"
    }

    /// The status of a card with numbers.
    var notice: String? { reason.map { Self.noticeBeginning + $0 } }
    fileprivate static let noticeBeginning = "Numbers may be missing: "
}

extension SourceReading {
    var issues: SourceIssues { SourceIssues(findings, isPartial: isPartial) }
}

extension UsageSource {
    /// The cards as read; with issues, a first card that has no numbers says so, as an error where files cannot be
    /// read.
    func cards(_ cards: [AccountCard], issues: SourceIssues, at now: Date) -> [AccountCard] {
        guard cards.first?.snapshot.hasNumbers != true, let reason = issues.reason else { return cards }
        var first = cards.first
        if !issues.errors.isEmpty || first == nil {
            first = AccountCard(
                snapshot: ProviderUsageSnapshot(providerID: providerID, providerName: providerName, lastUpdated: now))
        }
        first?.snapshot.isError = !issues.errors.isEmpty
        first?.snapshot.statusMessage = issues.errors.isEmpty ? issues.notice : reason
        return [first].compactMap { $0 } + cards.dropFirst()
    }
}

extension ProviderUsageSnapshot {
    /// Adds a sentence to the status.
    mutating func state(_ sentence: String) {
        statusMessage = [statusMessage, sentence].compactMap { $0 }.joined(separator: ". ")
    }

    /// Whether the status is, or ends with, the notice of an incomplete reading.
    var isIncomplete: Bool { statusMessage?.contains(SourceIssues.noticeBeginning) == true }

    /// Whether anything is known beyond the account.
    var hasNumbers: Bool {
        primary != nil || secondary != nil || rateWindows != nil || credits != nil || budget != nil
    }
}

extension Evidence {
    /// Invalid numbers that were dropped, one finding for each file.
    func flawedFindings(title: String) -> [SourceFinding] {
        let reasons: [(LimitReading.Flaw, String)] = [
            (.implausiblePercent, "a percentage is between 0 and 200"),
            (.implausibleReset, "a reset is at most the window's length away"),
        ]
        return reasons.flatMap { flaw, reason in
            Dictionary(grouping: flawed.filter { $0.flaw == flaw }, by: \.origin.path)
                .sorted { $0.key < $1.key }.map { path, readings in
                    let texts = readings.map(\.statement)
                    return SourceFinding(
                        path: path, title: title,
                        detail: "dropped, since \(reason): " + texts.prefix(3).joined(separator: ", "))
                }
        }
    }
}
