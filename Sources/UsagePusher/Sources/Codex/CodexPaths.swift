/// Where Codex keeps its files.
struct CodexPaths {
    let root: String

    /// `$CODEX_HOME` if it is an absolute path, else `~/.codex`; and the further homes.
    static func homes(in environment: SourceEnvironment) -> [CodexPaths] {
        let own = environment.absolutePath(variable: "CODEX_HOME") ?? environment.home + "/.codex"
        let further = environment.furtherHomes(of: "codex").filter { $0 != own }
        return ([own] + further).map { CodexPaths(root: $0) }
    }

    var sessions: String { root + "/sessions" }
    /// Flat.
    var archive: String { root + "/archived_sessions" }
    var authentication: String { root + "/auth.json" }
}

/// The rollouts among the files of a walk over `sessions` and `archived_sessions`, in that order.
struct CodexRollouts {
    /// A session counts once: a plain file before a compressed one, then the newer one.
    let newestFirst: [DirectoryWalk.File]
    private static let suffixes = [".jsonl", ".jsonl.zst"]

    static func isOne(_ name: String) -> Bool {
        name.hasPrefix("rollout-") && suffixes.contains { name.hasSuffix($0) }
    }

    static func isCompressed(_ file: DirectoryWalk.File) -> Bool {
        file.name.hasSuffix(suffixes[1])
    }

    init(_ walk: DirectoryWalk) {
        let files = walk.newestFirst
        var seen: Set<Substring> = []
        let plain = files.filter {
            !Self.isCompressed($0) && seen.insert(Self.session(of: $0)).inserted
        }
        let compressed = files.filter {
            Self.isCompressed($0) && seen.insert(Self.session(of: $0)).inserted
        }
        newestFirst = (plain + compressed).sorted(by: DirectoryWalk.isNewer)
    }

    /// The UUID at the end of the name, or the whole name without one.
    private static func session(of file: DirectoryWalk.File) -> Substring {
        let stem = file.name.dropLast(suffixes[isCompressed(file) ? 1 : 0].count)
        return stem.count > 36 ? stem.suffix(36) : stem
    }
}
