/// The limits of a snapshot document.
///
/// ```swift
/// if data.count > SnapshotLimits.documentBytes { print("too large to store under one key") }
/// ```
public enum SnapshotLimits {
    /// Bytes of a document: what the store accepts under one key.
    public static let documentBytes = 1_048_576
    /// Levels of nesting; a snapshot needs eight.
    public static let nestingDepth = 64
    /// Decoded entries of `providers`; the rest is counted as skipped.
    public static let providers = 256
    /// Decoded windows of one provider; the rest is counted as skipped.
    public static let windowsPerProvider = 64
    /// Decoded days of one cost summary.
    public static let costDays = 400
    /// Decoded hours of one cost summary: 31 days.
    public static let costHours = 744
    /// Decoded breakdown rows of one day.
    public static let breakdownsPerDay = 128
    /// Elements of any list that are decoded, good or bad; at least the limits above.
    static let elementsPerList = 1_024
    /// Plausible dates: from 1970 to the end of the year 9999.
    package static let secondsSince1970: ClosedRange<Double> = 0...253_402_300_799
}
