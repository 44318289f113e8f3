import Foundation
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
    var showsPresence: Bool { !isPermissionDenied || (try? FileStatus(path: path)) != nil }

    func finding(title: String) -> SourceFinding {
        SourceFinding(
            path: path, title: title, detail: "cannot be read: \(sourceMessage)", isError: true)
    }
}

extension UsageSource {
    /// The cards as read, the first one replaced by an error when a file that cannot be read may hide its numbers.
    func cards(
        _ cards: [AccountCard], orFirstOf errors: [FileError], at now: Date
    ) -> [AccountCard] {
        guard cards.first?.snapshot.hasNumbers != true, let error = errors.first else {
            return cards
        }
        let failed = ProviderUsageSnapshot(
            providerID: providerID, providerName: providerName,
            statusMessage: "Cannot read \(error.path): \(error.sourceMessage)",
            isError: true, lastUpdated: now)
        return [AccountCard(snapshot: failed)] + cards.dropFirst()
    }
}

extension ProviderUsageSnapshot {
    /// Whether anything is known beyond the account.
    var hasNumbers: Bool {
        primary != nil || secondary != nil || rateWindows != nil || credits != nil || budget != nil
    }
}

extension Evidence {
    /// Invalid numbers that were dropped, one finding for each file.
    func flawedFindings(title: String) -> [SourceFinding] {
        let dropped = flawed.filter { $0.flaw == .implausiblePercent }
        let byPath = Dictionary(grouping: dropped, by: \.origin.path)
        return byPath.sorted { $0.key < $1.key }.map { path, readings in
            let texts = readings.flatMap(\.windows).map { "\($0.kind.name) \($0.percentText)" }
            return SourceFinding(
                path: path, title: title,
                detail: "dropped, since a percentage is between 0 and 1000: "
                    + texts.prefix(3).joined(separator: ", "))
        }
    }
}
