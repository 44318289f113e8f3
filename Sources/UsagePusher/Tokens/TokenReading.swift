import LocalFiles

extension JSONCursor {
    /// Counts by the names that a tool gives them.
    typealias CountNames = [(name: StaticString, kind: any WritableKeyPath<TokenCounts, Int> & Sendable)]

    /// Reads the members of an object that have one of the names, and passes over the others. Does nothing to `counts`
    /// where the next value is not an object.
    mutating func readCounts(_ names: CountNames, into counts: inout TokenCounts) {
        guard enterObject() else { return }
        while let key = nextKey() { readCount(key, names, into: &counts) }
    }

    /// Reads the value of a key that is one of the names, or passes over it. See `hasImpossibleCount`.
    mutating func readCount(_ key: Text, _ names: CountNames, into counts: inout TokenCounts) {
        for (name, kind) in names where key == name {
            counts[keyPath: kind] = count() ?? 0
            return
        }
        skip()
    }
}

extension TokenCounts {
    /// Subtracts the cached tokens from the input, where the tool states the whole prompt.
    mutating func removeCachesFromInput() {
        input = max(0, input &- cacheRead &- cacheWrite)
    }
}

/// A small file of a tool that says more about its logs: one that is missing or cannot be read says nothing.
struct SideFile {
    let path: String

    private static let byteLimit = 1_048_576

    init(_ path: String) { self.path = path }

    /// For what is worth an error; nil when there is no file.
    func read() throws(FileError) -> LocalFile.Content? {
        try LocalFile(path).read(byteLimit: Self.byteLimit)
    }

    var content: LocalFile.Content? { (try? read()) ?? nil }  // See above.

    var fields: JSONFields? { content.flatMap { JSONFields($0.data) } }
    var text: String? {
        content.map { content in
            let start = TextStart.byteCount(of: content.data)
            return String(decoding: content.data.dropFirst(start), as: UTF8.self)
        }
    }
    var exists: Bool { FileStatus.visible(at: path) != nil }
}
