import Foundation
import SnapshotModels

extension FolderWalk.Trouble {
    func finding(title: String) -> SourceFinding {
        SourceFinding(path: path, title: title, detail: "cannot be read: \(trouble.words)")
    }
}

extension ProviderUsageSnapshot {
    /// The row of a tool that is here and whose files cannot be read.
    static func unreadable(
        providerID: String, providerName: String, _ trouble: FolderWalk.Trouble, now: Date
    ) -> ProviderUsageSnapshot {
        ProviderUsageSnapshot(
            providerID: providerID, providerName: providerName,
            statusMessage: "Cannot read \(trouble.path): \(trouble.trouble.words)",
            isError: true, lastUpdated: now)
    }

    /// Whether anything is known beyond the account.
    var hasNumbers: Bool {
        primary != nil || secondary != nil || rateWindows != nil || credits != nil || budget != nil
    }
}

extension SourceEnvironment {
    /// A variable's value as a path without a trailing slash; nil when it is unset or relative,
    /// since what it would be relative to is the tool's folder and not ours. "~/" is expanded.
    func absolutePath(variable: String) -> String? {
        guard let value = variables[variable] else { return nil }
        return absolutePath(value)
    }

    func absolutePath(_ text: String) -> String? {
        var path = text.trimmingCharacters(in: .whitespaces)
        if path == "~" || path.hasPrefix("~/") { path = home + path.dropFirst() }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard path.hasPrefix("/"), !path.contains("\0") else { return nil }
        return path
    }
}

extension ScanBudget {
    init(_ environment: SourceEnvironment) {
        self.init(
            limits: environment.limits, monotonicSeconds: environment.monotonicSeconds)
    }
}
