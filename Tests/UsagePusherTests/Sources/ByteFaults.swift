import Foundation
import Testing

@testable import UsagePusher

/// What happens to a text file on its way that changes nothing of what it says.
enum ByteFault: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case byteOrderMark = "a byte order mark"
    case carriageReturns = "CRLF"
    case zeroTail = "a tail of zeros"
    case zerosBeforeLines = "zeros where a line begins"

    var testDescription: String { rawValue }

    /// The bytes with the fault; nil for a file that has it already, or that is no text.
    func applied(to bytes: Data, isOfLines: Bool) -> Data? {
        guard !bytes.isEmpty, !bytes.contains(0), !bytes.starts(with: TextStart.mark) else { return nil }
        switch self {
        case .byteOrderMark: return Data(TextStart.mark) + bytes
        case .carriageReturns:
            guard !bytes.contains(0x0D) else { return nil }
            return bytes.reduce(into: Data()) { $0 += $1 == 0x0A ? [0x0D, 0x0A] : [$1] }
        case .zeroTail:
            // Whoever writes a document again writes no zeros behind it.
            return isOfLines ? bytes + Data(count: 5_000) : nil
        case .zerosBeforeLines:
            guard isOfLines else { return nil }
            return bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                .map { $0.isEmpty ? $0 : Data(count: 700) + $0 }
                .reduce(into: Data()) { $0 += ($0.isEmpty ? [] : [0x0A]) + $1 }
        }
    }
}

extension SampleHome {
    /// The text files: those of logs, and the others that their sources read.
    func textFiles() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: path(name), isDirectory: &isDirectory)
                && !isDirectory.boolValue && !Self.isBinary(name)
        }.sorted()
    }

    private static func isBinary(_ name: String) -> Bool {
        [".zst", ".db", ".sqlite3", ".sqlite", ".vscdb", "-wal", "-shm"].contains {
            name.hasSuffix($0)
        }
    }

    func bytes(_ relative: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path(relative)))
    }
}
