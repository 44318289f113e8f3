#if os(Linux) || os(Android)
    import Foundation

    enum PeakMemory {
        /// The most resident memory that a process has had, in bytes.
        static func byteCount(of process: Int32) throws -> Int? {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) }.map { $0 * 1_024 }
        }
    }
#endif
