package import Essentials
import KVStoreCore
import KVStoreLog

/// A file of the daemon that a backup contains beside the ledger.
package struct AttachedFile: Sendable, Equatable {
    package var name: String
    package var content: Data

    package init(name: String, content: Data) {
        self.name = name
        self.content = content
    }
}

/// What a backup contains, in numbers.
package struct BackupSummary: Sendable, Equatable {
    /// Milliseconds since 1970.
    package var created: Int64
    package var storeCount = 0
    /// Keys with a value.
    package var keyCount = 0
    /// Frames before the last one.
    package var frameCount = 0
}

// The frames of a backup that are not in a log. As there, a name is preceded by its size.
//
// Kind 5, a file:      1 bytes of the name · the name · the content
// Kind 6, the end:     8 milliseconds since 1970 · 8 stores · 8 keys with a value · 8 frames before this one
enum BackupEntry: Equatable {
    case file(AttachedFile)
    case end(BackupSummary)

    enum Kind {
        static let file: UInt8 = 5
        static let end: UInt8 = 6
    }

    static let endByteCount = FrameFormat.byteCount(payload: 32)

    static func byteCount(of file: AttachedFile) -> Int {
        FrameFormat.byteCount(payload: 1 + file.name.utf8.count + file.content.count)
    }

    var payload: LogPayload {
        switch self {
        case .file(let file):
            return LogPayload(
                kind: Kind.file, bytes: [UInt8(file.name.utf8.count)] + Array(file.name.utf8) + file.content)
        case .end(let summary):
            var bytes: [UInt8] = []
            bytes.append(littleEndian: summary.created)
            for count in [summary.storeCount, summary.keyCount, summary.frameCount] {
                bytes.append(littleEndian: UInt64(count))
            }
            return LogPayload(kind: Kind.end, bytes: bytes)
        }
    }

    /// Nil for bytes that this version does not write.
    init?(_ frame: LogFrame) {
        let bytes = frame.payload
        switch frame.kind {
        case Kind.file:
            let start = 1 + Int(bytes[0])
            guard start <= bytes.count, let name = bytes.text(1..<start) else { return nil }
            self = .file(AttachedFile(name: name, content: Data(bytes[start...])))
        case Kind.end where bytes.count == 32:
            self = .end(
                BackupSummary(
                    created: bytes.littleEndian(Int64.self, at: 0),
                    storeCount: Int(clamping: bytes.littleEndian(UInt64.self, at: 8)),
                    keyCount: Int(clamping: bytes.littleEndian(UInt64.self, at: 16)),
                    frameCount: Int(clamping: bytes.littleEndian(UInt64.self, at: 24))))
        default: return nil
        }
    }
}
