import LocalFiles

/// A digest of a watched path: equal signatures mean that nothing changed that `stat` shows.
struct WatchSignature: Sendable, Equatable {
    private let digest: Int

    /// Covers the path, the entries of a directory, and the directories below a recursive path.
    ///
    /// - Parameter budget: directory entries that may still be listed.
    init(of watched: WatchedPath, depth: Int, budget: inout Int) {
        var hasher = Hasher()
        var visited: Set<FileStatus.Identity> = []
        var waiting = [(path: watched.path, depth: depth)]
        while let (path, depth) = waiting.popLast(), budget > 0 {
            guard let status = try? FileStatus(path: path) else { continue }
            hasher.combine(path)
            hasher.combine(status)
            guard status.kind == .directory, visited.insert(status.identity).inserted,
                let listing = try? LocalDirectory(path).entries(limit: budget)
            else { continue }
            budget -= listing.entries.count
            for name in listing.entries.map(\.name).sorted() {
                let child = WatchPath.join(path, name)
                guard let status = try? FileStatus(path: child) else { continue }
                if status.kind == .directory, watched.isRecursive, depth > 0 {
                    waiting.append((child, depth - 1))
                } else {
                    hasher.combine(child)
                    hasher.combine(status)
                }
            }
        }
        digest = hasher.finalize()
    }
}
