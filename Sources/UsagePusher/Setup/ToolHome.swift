import Essentials
import LocalFiles

/// A directory in which a tool keeps its configuration and sessions.
package struct ToolHome: Sendable, Hashable, Encodable {
    package var providerID: String
    package var path: String

    package init(providerID: String, path: String) {
        self.providerID = providerID
        self.path = path
    }
}

/// The homes of the tools on this machine.
package struct ToolHomes: Sendable, Equatable {
    /// Those that are read: the tools' own, as far as they exist, then the configured ones.
    package private(set) var known: [ToolHome]
    /// Those that were found by their names, such as `~/.claude-work`, and are not read.
    package private(set) var unread: [ToolHome]

    private static let entryLimit = 10_000
    private static let homeLimit = 32

    package init(_ environment: SourceEnvironment) {
        let own = UsageSources.withHomes.flatMap { source in
            source.ownHomes(in: environment).map {
                ToolHome(providerID: source.providerID, path: $0)
            }
        }
        let configured = environment.additionalHomes.sorted { $0.key < $1.key }.flatMap { id, paths in
            paths.map { ToolHome(providerID: id, path: $0) }
        }
        var seen: Set<FileStatus.Identity> = []
        let isNew = { (home: ToolHome) in
            Self.identity(of: home).map { seen.insert($0).inserted } ?? false
        }
        let ownSeen = own.filter { Self.isUsed($0) && isNew($0) }
        known = ownSeen + configured.filter(isNew)
        unread = Self.named(below: environment.home).filter(isNew)
    }

    /// Whether the directory contains what only the tool itself creates.
    package static func isHome(_ home: ToolHome) -> Bool {
        contains(home) { $0.homeMarks }
    }

    /// The same for a directory with a tool's own name.
    private static func isUsed(_ home: ToolHome) -> Bool {
        contains(home) { $0.homeMarks + $0.homeSettings }
    }

    private static func contains(_ home: ToolHome, anyOf names: (any UsageSource) -> [String]) -> Bool {
        UsageSources.withHomes.filter { $0.providerID == home.providerID }.flatMap(names)
            .contains { exists(home.path + "/" + $0) }
    }

    private static func named(below directory: String) -> [ToolHome] {
        // What cannot be listed has no homes that could be read.
        let names = (try? LocalDirectory(directory).entries(limit: entryLimit))?.entries ?? []
        let homes = names.map(\.name).sorted().compactMap { name -> ToolHome? in
            for id in UsageSources.withHomes.map(\.providerID) where name == ".\(id)" || name.hasPrefix(".\(id)-") {
                return ToolHome(providerID: id, path: directory + "/" + name)
            }
            return nil
        }
        return Array(homes.filter(isHome).prefix(homeLimit))
    }

    private static func identity(of home: ToolHome) -> FileStatus.Identity? {
        guard let status = FileStatus.visible(at: home.path), status.kind == .directory else { return nil }
        return status.identity
    }

    private static func exists(_ path: String) -> Bool { FileStatus.visible(at: path) != nil }
}
