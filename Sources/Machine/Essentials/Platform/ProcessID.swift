package enum ProcessID {
    /// Whether the process runs. A zombie does not: it keeps its number until its parent reaps it, which process 1 of a
    /// container may never do.
    ///
    /// - Parameter ofAnyUser: whether a process of another user counts.
    package static func isRunning(_ number: Int32, ofAnyUser: Bool = false) -> Bool {
        guard kill(number, 0) == 0 || ofAnyUser && errno == EPERM else { return false }
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
