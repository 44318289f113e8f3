// Time zones, from the C library and its files: without ICU, 44 MB of a program, TimeZone knows fixed offsets only.
// Not here: days, weeks and how times are written (UsageState, UsagePusher).

package import Essentials
package import LocalFiles

/// A time zone of clock times.
package enum ClockZone: Sendable, Equatable {
    /// The zone that `TZ` names, else that of the system, as the C library has it.
    case local
    case fixed(secondsFromGMT: Int)
    case named(ZoneRules)

    package static let gmt = ClockZone.fixed(secondsFromGMT: 0)

    /// A zone of the time zone database, such as `Europe/Berlin`.
    ///
    /// - Parameter directories: where its files are; the first that has one counts.
    /// - Throws: what is wrong with the name or the file; `isMissing` if there is no file of the name.
    package static func named(
        _ name: String, in directories: [String] = ZoneFiles.directories()
    ) throws(FileError) -> ClockZone {
        if ["UTC", "GMT", "Etc/UTC", "Etc/GMT"].contains(name) { return .gmt }
        return .named(try ZoneFiles.rules(of: name, in: directories))
    }

    /// Seconds east of UTC at a time.
    package func secondsFromGMT(at date: Date) -> Int {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let range = ClosedRange(uncheckedBounds: (Double(Self.seconds.lowerBound), Double(Self.seconds.upperBound)))
        return secondsFromGMT(at: Int(min(max(seconds, range.lowerBound), range.upperBound)))
    }

    /// Seconds east of UTC at a time in seconds since 1970.
    package func secondsFromGMT(at seconds: Int) -> Int {
        switch self {
        case .fixed(let offset): offset
        case .named(let rules): rules.offset(at: Self.clamped(seconds))
        case .local: LocalZone.offset(at: Self.clamped(seconds))
        }
    }

    /// Days since 1970-01-01 in the zone.
    package func day(of date: Date) -> Int {
        Int(((date.timeIntervalSince1970 + Double(secondsFromGMT(at: date))) / 86_400).rounded(.down))
    }

    /// The time of a day at which clocks show noon, which is far from any change of them.
    package func noon(ofDay day: Int) -> Date {
        Date(timeIntervalSince1970: Double(seconds(ofClocksShowing: day * 86_400 + 43_200)))
    }

    /// When clocks show a time, in seconds since 1970: the first of two such times, and for a time that clocks skip
    /// when they do.
    ///
    /// - Parameter wall: what clocks show, as if it were UTC.
    package func seconds(ofClocksShowing wall: Int) -> Int {
        // No zone changes twice in two days, and none is a day away from UTC.
        let (before, after) = (secondsFromGMT(at: wall - 86_400), secondsFromGMT(at: wall + 86_400))
        let times = [wall - before, wall - after].sorted()
        if let time = times.first(where: { $0 + secondsFromGMT(at: $0) == wall }) { return time }
        var (low, high) = (times[0], times[1])
        while low < high {
            let middle = low + (high - low) / 2
            if secondsFromGMT(at: middle) == after { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Years have four digits.
    private static let seconds = -62_135_596_800...253_402_300_799

    private static func clamped(_ value: Int) -> Int { min(max(value, seconds.lowerBound), seconds.upperBound) }
}
