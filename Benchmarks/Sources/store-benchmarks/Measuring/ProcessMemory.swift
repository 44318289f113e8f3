import Foundation

/// How much memory this process holds, as the system's `/proc` tells it.
enum ProcessMemory {
    /// Bytes in memory now; nil on a system that has no `/proc`.
    static var resident: Int? { byteCount("VmRSS:") }

    /// The most bytes that were ever in memory.
    static var peak: Int? { byteCount("VmHWM:") }

    private static func byteCount(_ name: String) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return nil
        }
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
        return words.count == 3 ? Int(words[1]).map { $0 * 1_024 } : nil
    }
}
