extension SegmentedLog {
    /// Rewrites the log: starts a new segment that holds `payloads` from the moment it exists, on disk, and removes
    /// all older ones; where that fails they go with the next time. When it throws, the new segment may be there.
    package func rewrite(_ payloads: [LogPayload]) throws(LogError) {
        guard !payloads.isEmpty else { return }
        try checkOpen()
        try removeRewritten()
        try startSegment(toHold: try Self.byteCount(of: payloads), with: payloads)
        rewritten = activeSegment
        try? removeRewritten()
    }

    private func removeRewritten() throws(LogError) {
        while let oldest = segments.first, oldest < rewritten { try removeOldest() }
    }
}
