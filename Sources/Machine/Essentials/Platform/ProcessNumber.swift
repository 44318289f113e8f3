package enum ProcessNumber {
    /// Whether the process runs. One that has ended does not, although it has its number until its parent takes the
    /// status, which the first process of a container may never do.
    ///
    /// - Parameter belongsToAnyone: whether it may be another user's.
    package static func isRunning(_ number: Int32, belongsToAnyone: Bool = false) -> Bool {
        guard kill(number, 0) == 0 || belongsToAnyone && errno == EPERM else { return false }
        #if os(Linux)
            // "1234 (kvsd) Z …", where the name has any characters (proc(5)).
            let status = FileManager.default.contents(atPath: "/proc/\(number)/stat") ?? Data()
            guard let end = status.lastIndex(of: UInt8(ascii: ")")), end + 2 < status.endIndex else { return true }
            return !"ZX".utf8.contains(status[end + 2])
        #else
            return true
        #endif
    }
}
