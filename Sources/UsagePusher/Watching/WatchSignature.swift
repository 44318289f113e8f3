/// What a watched path looked like: equal signatures mean that nothing changed that `stat` shows.
struct WatchSignature: Sendable, Equatable {
    private let digest: Int

    /// Looks at the path, its direct entries where it is a folder, and the folders below it where
    /// it is recursive. `budget` is the number of entries that may still be looked at.
    init(of watched: WatchedPath, depth: Int, budget: inout Int) {
        var hasher = Hasher()
        var visited: Set<FileFacts.Identity> = []
        var waiting = [(path: watched.path, depth: depth)]
        while let (path, depth) = waiting.popLast(), budget > 0 {
            guard let facts = try? FileFacts(path: path) else { continue }
            hasher.combine(path)
            hasher.combine(facts)
            guard facts.kind == .folder, visited.insert(facts.identity).inserted,
                let listing = try? FolderListing.entries(of: path, upTo: budget)
            else { continue }
            budget -= listing.entries.count
            for name in listing.entries.map(\.name).sorted() {
                let child = WatchPath.join(path, name)
                guard let facts = try? FileFacts(path: child) else { continue }
                if facts.kind == .folder, watched.isRecursive, depth > 0 {
                    waiting.append((child, depth - 1))
                } else {
                    hasher.combine(child)
                    hasher.combine(facts)
                }
            }
        }
        digest = hasher.finalize()
    }
}
