/// What a device has of an item, beside what all devices share.
enum LocalEntry: Hashable, Sendable {
    /// - Parameter isShared: whether it has been in the shared history, so that it was removed if it is no longer
    ///   there.
    case item(ClipItem, isShared: Bool)
    /// Removed on this device by its user, and not yet from the shared history.
    case removed
    /// Dropped on this device for room or its age, by what it knew: the last copy, and the last change of the pin. Not
    /// yet from the shared history, where it stays if others have copied or pinned it since.
    case dropped(lastCopied: Timestamp, pinChanged: Timestamp)

    var item: ClipItem? { if case .item(let item, _) = self { item } else { nil } }
}

extension [ItemKey: LocalEntry] {
    var items: [ItemKey: ClipItem] { compactMapValues(\.item) }

    /// Takes over what a change has made of the items. What is shared is marked as removed, for the shared history.
    mutating func apply(_ changes: ClipHistory.Changes, of history: ClipHistory) {
        for key in changes.written.union(changes.removed).union(changes.dropped) {
            let isShared = if case .item(_, isShared: true) = self[key] { true } else { false }
            if let item = history.items[key] {
                self[key] = .item(item, isShared: isShared)
            } else if !isShared {
                self[key] = nil
            } else if let item = self[key]?.item, !changes.removed.contains(key) {
                self[key] = .dropped(lastCopied: item.lastCopied, pinChanged: item.pin.changed)
            } else {
                self[key] = .removed
            }
        }
    }

    /// The same items, of which none has been shared.
    var unshared: Self { items.mapValues { .item($0, isShared: false) } }
}

/// What the history of a device and the shared one are to have of an item, after either has changed.
///
/// The shared history keeps only the newest write of an item, so each device keeps all that it knows beside it, and
/// writes it again where another's write knew less. Each such write is more than what was there: devices cannot answer
/// each other for ever. A removal by the user beats every change.
struct Reconciliation: Hashable, Sendable {
    var local: LocalEntry?
    var shared: ClipItem?

    init(_ local: LocalEntry?, _ shared: ClipItem?) {
        let known: ClipItem?
        switch (local, shared) {
        case (.removed, _), (.dropped, nil), (nil, nil), (.item(_, isShared: true), nil): known = nil
        case (.dropped(let copied, let pinned), let item?):
            known = item.lastCopied > copied || item.pin.changed > pinned ? item : nil
        case (.item(let item, isShared: false), nil): known = item
        case (nil, let item?): known = item
        case (.item(let item, _), let other?): known = item.joined(other)
        }
        self.local = known.map { .item($0, isShared: true) }
        self.shared = known
    }
}
