import Commands
import Essentials

/// An item as another clipboard manager has it.
struct ImportedItem {
    /// All types and their data, as markers of secrets are types too, and the application where it was copied.
    var offer: Offer
    /// Nil where the tool notes no times.
    var first: Timestamp?
    var last: Timestamp?
    var copies = 1
    var pin: PinState.Pin?
    /// For contents of which none can be derived.
    var title: String?

    var byteCount: Int { offer.data.reduce(0) { $0 + $1.data.count } }
}

/// What was read of another tool's history.
struct ImportedItems {
    /// The newest first, and for items without times in the order of the tool.
    private(set) var items: [ImportedItem] = []
    /// Items that were not read, by the reason. Reasons are fixed texts.
    private(set) var unread: [String: Int] = [:]
    private var byteCount = 0

    /// The largest item that the cache of this machine keeps.
    static let itemByteLimit = ContentCache.contentsByteLimit
    /// For all items together, which are in memory at the same time.
    static let byteLimit = 256 << 20
    /// More than a history keeps, as some are not kept and others are the same.
    static let itemLimit = 10_000

    /// - Returns: false when there is no room for older ones.
    @discardableResult
    mutating func append(_ item: ImportedItem) -> Bool {
        guard !isFull else {
            skip(Self.tooOld)
            return false
        }
        guard item.byteCount <= Self.itemByteLimit else {
            skip(Self.tooLarge)
            return true
        }
        guard !item.offer.data.isEmpty else {
            skip("has no contents")
            return true
        }
        items.append(item)
        byteCount += item.byteCount
        return true
    }

    mutating func skip(_ reason: String, _ count: Int = 1) {
        if count > 0 { unread[reason, default: 0] += count }
    }

    var isFull: Bool { items.count >= Self.itemLimit || byteCount >= Self.byteLimit }

    var readCount: Int { items.count + unread.values.reduce(0, +) }

    static let tooOld = "older than what is read at once"
    static let tooLarge = "larger than 32 MiB"
}

/// Why a history could not be imported.
struct ImportError: ReportableError, Equatable {
    let path: String
    /// What is wrong, and what to do.
    let reason: String
    var exitStatus = ExitStatus.dataError

    static func missing(_ path: String) -> Self {
        Self(path: path, reason: "no such file; check the path", exitStatus: .noInput)
    }

    var description: String { "cannot import \(path): \(reason)" }
}
