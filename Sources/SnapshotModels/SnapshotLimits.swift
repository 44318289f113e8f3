/// Every bound of the snapshot document, for both sides.
public enum SnapshotLimits {
    /// Largest document written or read, in bytes: what the store keeps under one key.
    public static let documentBytes = 1_048_576
    /// Deepest nesting read. The document itself needs eight levels.
    public static let nestingDepth = 64
    /// Entries of `providers` that are read; the rest is counted as skipped.
    public static let providers = 256
    /// Windows of one provider that are read; the rest is counted as skipped.
    public static let windowsPerProvider = 64
    /// Days of one cost summary that are read.
    public static let costDays = 400
    /// Breakdown rows of one day that are read.
    public static let breakdownsPerDay = 128
    /// Elements of any list that are looked at, good or bad; not less than the limits above.
    static let elementsPerList = 512
    /// Dates that are believed, in seconds since 1970: from 1970 to the end of the year 9999.
    static let secondsSince1970: ClosedRange<Double> = 0...253_402_300_799
}
