// Reads SQLite databases that other programs may be writing, without their noticing. Not here: what is in them.

/// What reading may still cost. Whoever reads counts it; it ends with what was read until then.
package protocol ReadBudget {
    /// Bytes that may still be read; 0 after the deadline.
    var bytesLeft: Int { get }
    var isOutOfTime: Bool { get }
    /// Instructions that SQLite executes in one database.
    var stepCount: Int { get }
    /// The longest value that is read from a database, in bytes.
    var valueByteCount: Int { get }

    mutating func recordRead(_ count: Int)
    mutating func markExceeded()
    /// Counts a file to be opened. Returns false when none, or no byte or time, is left.
    mutating func reserveFile() -> Bool
}
