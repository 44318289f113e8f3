extension SegmentedLog {
    /// Starts a new segment that contains `payloads` durably from the start, and removes all older ones; if that fails,
    /// the next rewrite removes them. When it throws, the new segment may exist.
    ///
    /// After a failed sync this opens the log again: of what the older segments have nothing is needed any more.
    package func rewrite(_ payloads: [LogPayload]) throws(LogError) {
        guard !payloads.isEmpty else { return }
        try removeRewritten()
        if let recovery = try prepareRecovery(with: payloads) {
            try finish(recovery, recovery.perform())
        } else {
            try checkOpen()
            try startSegment(toHold: try Self.byteCount(of: payloads), with: payloads)
        }
        rewritten = activeSegment
        try? removeRewritten()
    }

    private func removeRewritten() throws(LogError) {
        while let oldest = segments.first, oldest < rewritten { try removeOldest() }
    }
}
