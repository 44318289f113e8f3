package import UsageState

/// What reports call projects.
package struct ProjectNames: Sendable {
    package let rules: ProjectRules
    /// By the hashes of keys.
    private let known: [String: String]

    /// What several projects are called that are hidden.
    package static let hidden = "hidden"

    /// - Parameters:
    ///   - known: names by the hashes of keys.
    ///   - keys: of the ledger; some have a name, which counts if none is known.
    package init(_ rules: ProjectRules, known: [String: String], keys: Set<String> = []) {
        self.rules = rules
        let stated = keys.sorted().compactMap { key in
            key.firstIndex(of: " ").map { (LedgerProjects.hash(ofKey: key), String(key[key.index(after: $0)...])) }
        }
        self.known = Dictionary(stated) { $1 }.merging(known) { $1 }
    }

    /// Those whose names are known.
    package var knownHashes: Set<String> { Set(known.keys) }

    /// That of the project as which one counts.
    package func name(ofKey key: String) -> String {
        let hash = rules.target(of: LedgerProjects.hash(ofKey: key))
        return rules[hash].isHidden ? Self.hidden : ownName(of: hash)
    }

    /// Its own, whatever it counts as.
    package func ownName(of hash: String) -> String {
        rules[hash].name ?? originalName(of: hash) ?? "#" + hash.prefix(8)
    }

    /// That of the repository or directory, if it is known.
    package func originalName(of hash: String) -> String? { known[hash] }
}
