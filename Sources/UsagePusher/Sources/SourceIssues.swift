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
        case .system: message
        }
    }

    func finding(title: String) -> SourceFinding {
        SourceFinding(path: path, title: title, detail: "cannot be read: \(sourceMessage)")
    }
}

extension UsageSource {
    /// The provider as read, or an error in its place when a file that cannot be read may hide
    /// its numbers.
    func provider(
        _ provider: ProviderUsageSnapshot?, orFirstOf errors: [FileError], at now: Date
    ) -> ProviderUsageSnapshot? {
        if let provider, provider.hasNumbers { return provider }
        guard let error = errors.first else { return provider }
        return ProviderUsageSnapshot(
            providerID: providerID, providerName: providerName,
            statusMessage: "Cannot read \(error.path): \(error.sourceMessage)",
            isError: true, lastUpdated: now)
    }
}

extension ProviderUsageSnapshot {
    /// Whether anything is known beyond the account.
    fileprivate var hasNumbers: Bool {
        primary != nil || secondary != nil || rateWindows != nil || credits != nil || budget != nil
    }
}
