extension StringProtocol {
    /// The longest beginning of whole characters with at most so many bytes.
    func prefix(utf8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return String(self) }
        var end = startIndex
        var bytes = 0
        while end < endIndex {
            let next = index(after: end)
            bytes += self[end..<next].utf8.count
            guard bytes <= limit else { break }
            end = next
        }
        return String(self[..<end])
    }

    /// The first so many characters, cut without counting all of a long text.
    package func shortened(to limit: Int) -> String {
        utf8.count <= limit ? String(self) : String(prefix(limit < 0 ? 0 : limit))
    }
}
