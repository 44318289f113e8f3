public import Foundation

/// One key as it stands somewhere: who wrote it when, and what.
public struct Record: Sendable, Hashable {
    public var key: String
    public var stamp: Stamp
    public var content: Content

    /// A value as the bytes of its binary property list, or the mark that the key was removed.
    public enum Content: Sendable, Hashable {
        case value(Data)
        case tombstone

        public var byteCount: Int {
            switch self {
            case .value(let data): data.count
            case .tombstone: 0
            }
        }

        var isTombstone: Bool { self == .tombstone }
    }

    public init(key: String, stamp: Stamp, content: Content) {
        self.key = key
        self.stamp = stamp
        self.content = content
    }
}
