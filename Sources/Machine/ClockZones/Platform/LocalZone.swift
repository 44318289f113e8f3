import Essentials

/// The zone of the system, or of `TZ`.
enum LocalZone {
    /// Seconds east of UTC.
    static func offset(at seconds: Int) -> Int {
        var time = time_t(seconds)
        var parts = tm()
        return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
    }
}
