package import KVStoreCore

/// What a simulated world is made of and what may go wrong in it.
package struct WorldOptions: Sendable {
    package var deviceCount = 3
    package var keyCount = 5
    /// Operations of users and faults before the world is healed and must come to rest.
    package var stepCount = 120
    package var hasNetworkFaults = true
    package var hasCrashes = true
    package var hasDiskFaults = true
    package var hasClockFaults = true
    /// Whether the daemon's files are put back from a backup, and bytes of them change.
    package var hasRestores = true
    /// Whether replica directories are copied, restored from a backup and lost.
    package var hasCopies = true
    /// Whether there are two accounts between which machines switch.
    package var hasAccounts = true
    /// Whether programs and the daemon go on after a call that failed, where they can, or end.
    package var goesOnAfterFailures = true
    /// Whether programs write several keys at once.
    package var writesSeveral = true
    /// What the daemon has no room in from the middle of the world until long after everything else is healed.
    package var shortage: Shortage?
    package var segmentByteCount = 4_096
    /// What fits into a message: in half of the worlds seldom all keys, so that downloads and uploads take several.
    package var page = WireLimits.page
    package var limits = StoreLimits()

    package enum Shortage: Sendable {
        /// The accounts may not take more memory.
        case account
        /// The log gets no further segment.
        case disk
    }

    package init() {}

    /// The world of a seed: its size and dangers are drawn from it too.
    package init(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0xA5A5_A5A5_0F0F_F0F0)
        deviceCount = Int.random(in: 2...4, using: &random)
        keyCount = Int.random(in: 1...6, using: &random)
        stepCount = Int.random(in: 40...200, using: &random)
        hasNetworkFaults = Bool.random(using: &random)
        hasCrashes = Bool.random(using: &random)
        hasDiskFaults = Bool.random(using: &random)
        hasClockFaults = Bool.random(using: &random)
        hasRestores = Int.random(in: 0..<4, using: &random) == 0
        segmentByteCount = [2_048, 4_096, 16_384].randomElement(using: &random)!
        hasCopies = Int.random(in: 0..<4, using: &random) == 0
        hasAccounts = Int.random(in: 0..<4, using: &random) == 0
        if Int.random(in: 0..<4, using: &random) == 0 {
            limits.totalByteCount = Int.random(in: 100...2_000, using: &random)
            limits.keyCount = Int.random(in: 1...4, using: &random)
        }
        goesOnAfterFailures = Bool.random(using: &random)
        if Bool.random(using: &random) {
            page.recordCount = Int.random(in: 1...3, using: &random)
            page.byteCount = [300, 1_000, 5_000].randomElement(using: &random)!
        }
        writesSeveral = Bool.random(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: shortage = .account
        // A daemon that ends after a failed call does not start without room.
        case 2 where goesOnAfterFailures: shortage = .disk
        default: break
        }
    }
}
