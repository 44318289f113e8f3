extension SegmentedLog {
    /// Starts a new segment that contains `payloads` durably from the start, and removes all older ones; if that fails,
    /// the next rewrite removes them. When it throws, the new segment may exist.
    package func rewrite(_ payloads: [LogPayload]) throws(LogError) {
        guard !payloads.isEmpty else { return }
        try checkOpen()
        try removeRewritten()
        try startSegment(toHold: try Self.byteCount(of: payloads), with: payloads)
        rewritten = activeSegment
        try? removeRewritten()  // removed the next time
    }

    /// The same after a failed sync, which opens the log again: of what the older segments have nothing is needed any
    /// more. Does nothing if no sync has failed.
    package func recover(rewriting payloads: [LogPayload]) throws(LogError) {
        guard let recovery = try prepareRecovery(with: payloads) else { return }
        try finish(recovery, recovery.perform())
        rewritten = activeSegment
        try? removeRewritten()  // removed the next time
    }

    private func removeRewritten() throws(LogError) {
        while let oldest = segments.first, oldest < rewritten { try removeOldest() }
    }
}
