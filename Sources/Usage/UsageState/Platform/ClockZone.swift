package import Essentials

/// A time zone of clock times. Without Foundation's localization data, which would triple the size of the program,
/// `TimeZone` has only fixed offsets.
package enum ClockZone: Sendable, Equatable {
    /// The zone that `TZ` names, else that of the system.
    case local
    case fixed(secondsFromGMT: Int)

    /// Seconds east of UTC at a time.
    package func secondsFromGMT(at date: Date) -> Int {
        switch self {
        case .fixed(let seconds): return seconds
        case .local:
            // Years have four digits.
            let seconds = min(max(date.timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
            var time = time_t(seconds)
            var parts = tm()
            return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
        }
    }
}
