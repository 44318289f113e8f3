/// Where Codex keeps its files.
struct CodexPaths {
    let root: String

    /// `$CODEX_HOME` if it is an absolute path, else `~/.codex`; and the configured further homes.
    static func homes(in environment: SourceEnvironment) -> [CodexPaths] {
        let own = environment.absolutePath(variable: "CODEX_HOME") ?? environment.home + "/.codex"
        let further = (environment.additionalHomes["codex"] ?? []).filter { $0 != own }
        return ([own] + further).map { CodexPaths(root: $0) }
    }

    var sessions: String { root + "/sessions" }
    /// Flat.
    var archive: String { root + "/archived_sessions" }
    var authentication: String { root + "/auth.json" }
}

/// The rollouts among the files of a walk over `sessions` and `archived_sessions`, in that order.
struct CodexRollouts {
    private(set) var newestFirst: [DirectoryWalk.File] = []
    private var compressed: [DirectoryWalk.File] = []
    private static let compressedSuffix = ".jsonl.zst"

    static func isOne(_ name: String) -> Bool {
        name.hasPrefix("rollout-") && (name.hasSuffix(".jsonl") || name.hasSuffix(compressedSuffix))
    }

    init(_ walk: DirectoryWalk) {
        compressed = walk.files.filter { $0.name.hasSuffix(Self.compressedSuffix) }
        let plain = walk.newestFirst.filter { !$0.name.hasSuffix(Self.compressedSuffix) }
        // A session that is in both directories is read where it grows.
        var seen: Set<Substring> = []
        newestFirst = plain.filter { seen.insert(Self.session(of: $0)).inserted }
    }

    var compressedFinding: SourceFinding? {
        guard let example = compressed.first else { return nil }
        let count = compressed.count
        return SourceFinding(
            path: example.path, title: "Codex sessions",
            detail: "\(count) compressed \(count == 1 ? "session" : "sessions") skipped;"
                + " Codex compresses sessions after a week without changes")
    }

    /// The UUID at the end of the name, or the whole name without one.
    private static func session(of file: DirectoryWalk.File) -> Substring {
        let stem = file.name.dropLast(".jsonl".count)
        return stem.count > 36 ? stem.suffix(36) : stem
    }
}
