/// What a history may hold. Every device with the same limits keeps the same of the same items.
struct HistoryLimits: Sendable {
    /// The number of items that are not pinned, 1 to 999.
    let size: Int
    /// For all stored items: 90 percent of the quota of the store.
    let byteLimit: Int
    /// How many bytes of the quota an item with so many bytes takes, with its key.
    let storedByteCount: @Sendable (_ encoded: Int) -> Int

    enum Limit: String, Sendable { case size, bytes }

    static let sizes = 1...999
    static let defaultSize = 200
    /// Items in all: the largest history and as many pins as there are letters.
    static let itemLimit = 1_020
    static let defaultQuota = 1_048_576

    /// - Parameters:
    ///   - size: clamped to `sizes`.
    ///   - quota: in bytes.
    ///   - storedByteCount: what sealing makes of a length; by default only the key is added.
    init(
        size: Int = defaultSize, quota: Int = defaultQuota,
        storedByteCount: @escaping @Sendable (Int) -> Int = { $0.addingSaturated(24) }
    ) {
        self.size = min(max(size, Self.sizes.lowerBound), Self.sizes.upperBound)
        byteLimit = quota / 10 * 9
        self.storedByteCount = storedByteCount
    }
}

/// How many bytes of contents an item may have before it becomes a stub: 16 KiB, settable from 1 to 64 KiB.
struct ItemByteLimit: Hashable, Sendable {
    let byteCount: Int

    init(kibibytes: Int = 16) { byteCount = min(max(kibibytes, 1), 64) * 1_024 }

    /// A first copy as it is stored: of contents over the limit, a stub with their title.
    func item(of contents: ClipContents, on device: String, application: String? = nil, at time: Timestamp) -> ClipItem
    {
        let isWhole = contents.byteCount <= byteCount
        let title = isWhole ? "" : ItemTitle.text(of: contents, limit: ItemTitle.lengthLimit)
        return ClipItem(
            body: isWhole ? .contents(contents) : .stub(ContentStub(of: contents)),
            origin: .init(device: device, application: application, title: title.isEmpty ? nil : title), at: time)
    }
}

/// After how long items that are not pinned are removed.
enum Expiry: String, CaseIterable, Sendable {
    case off
    case hour = "1h"
    case day = "1d"
    case week = "7d"
    case month = "30d"

    var milliseconds: Int64? {
        switch self {
        case .off: nil
        case .hour: 3_600_000
        case .day: 86_400_000
        case .week: 7 * 86_400_000
        case .month: 30 * 86_400_000
        }
    }
}
