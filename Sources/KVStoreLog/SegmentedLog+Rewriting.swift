extension SegmentedLog {
    /// Starts a new segment that contains `payloads` durably from the start, and removes all older ones; if that fails,
    /// the next rewrite removes them. When it throws, the new segment may exist.
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
