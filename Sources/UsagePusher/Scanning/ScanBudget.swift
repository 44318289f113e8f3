/// What a pass may still cost; shared by everything the pass reads.
struct ScanBudget {
    /// Bytes read so far.
    private(set) var bytesRead = 0
    private(set) var filesOpened = 0
    private(set) var entriesSeen = 0
    /// True once something was refused: the pass is partial.
    private(set) var isExceeded = false
    let limits: ScanLimits
    private let deadline: Double
    private let monotonicSeconds: @Sendable () -> Double

    /// - Parameter monotonicSeconds: a clock that never steps; only its differences count.
    init(limits: ScanLimits, monotonicSeconds: @escaping @Sendable () -> Double) {
        self.limits = limits
        self.monotonicSeconds = monotonicSeconds
        deadline = monotonicSeconds() + limits.seconds
    }

    /// Bytes that may still be read; 0 once the time is over.
    var bytesLeft: Int {
        monotonicSeconds() < deadline ? max(0, limits.byteCount - bytesRead) : 0
    }

    /// Entries that may still be looked at; 0 once the time is over.
    var entriesLeft: Int {
        monotonicSeconds() < deadline ? max(0, limits.entryCount - entriesSeen) : 0
    }

    mutating func noteRead(_ count: Int) { bytesRead += count }
    mutating func noteEntries(_ count: Int) { entriesSeen += count }
    mutating func noteExceeded() { isExceeded = true }

    /// Takes one of the files that may be opened. False, and the pass is partial, when none is
    /// left or the time or the bytes are used up.
    mutating func takeFile() -> Bool {
        guard filesOpened < limits.fileCount, bytesLeft > 0 else {
            isExceeded = true
            return false
        }
        filesOpened += 1
        return true
    }
}
