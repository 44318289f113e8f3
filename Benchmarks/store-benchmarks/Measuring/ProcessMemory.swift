import Foundation

/// The memory of this process, from `/proc`.
enum ProcessMemory {
    /// Resident bytes; nil on a system without `/proc`.
    static var resident: Int? { byteCount("VmRSS:") }

    /// Peak resident bytes.
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
