import LocalFiles

/// The homes in which other programs run a tool: they set its variable for it alone, so that nothing else tells where
/// its files are. docs/log-shapes.md says where each was seen.
enum LauncherHomes {
    private enum Place { case home, applicationData }

    /// A "*" is any directory.
    private static let patterns: [(providerID: String, place: Place, path: String)] = [
        ("claude", .home, "Library/Developer/Xcode/CodingAssistant/ClaudeAgentConfig"),
        ("codex", .home, "Library/Developer/Xcode/CodingAssistant/codex"),
        ("codex", .applicationData, "orca/codex-runtime-home/home"),
        ("codex", .applicationData, "orca/codex-accounts/*/home"),
    ]
    private static let entryLimit = 64

    /// Those that are there.
    static func of(_ providerID: String, in environment: SourceEnvironment) -> [String] {
        patterns.filter { $0.providerID == providerID }.flatMap { pattern in
            let bases = pattern.place == .home ? [environment.home] : environment.applicationData
            return bases.flatMap { directories(pattern.path, below: $0 + "/") }
        }.filter { FileStatus.visible(at: $0)?.kind == .directory }
    }

    private static func directories(_ pattern: String, below base: String) -> [String] {
        let parts = pattern.split(separator: "*").map(String.init)
        guard parts.count == 2 else { return [base + pattern] }
        // What cannot be listed has no homes that could be read.
        let names = (try? LocalDirectory(base + parts[0]).entries(limit: entryLimit))?.entries.map(\.name) ?? []
        return names.sorted().map { base + parts[0] + $0 + parts[1] }
    }
}

extension SourceEnvironment {
    /// A tool's homes besides its own: the configured ones, then those in which other programs run it.
    func furtherHomes(of providerID: String) -> [String] {
        let configured = additionalHomes[providerID] ?? []
        return configured + LauncherHomes.of(providerID, in: self).filter { !configured.contains($0) }
    }
}
