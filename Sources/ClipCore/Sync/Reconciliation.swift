/// What a device has of an item, beside what all devices share.
package enum LocalEntry: Hashable, Sendable {
    /// - Parameter isShared: whether it has been in the shared history, so that it was removed if it is no longer there.
    case item(ClipItem, isShared: Bool)
    /// Removed on this device, and not yet from the shared history.
    case removed

    package var item: ClipItem? {
        guard case .item(let item, _) = self else { return nil }
        return item
    }
}

extension [ItemKey: LocalEntry] {
    package var items: [ItemKey: ClipItem] { compactMapValues(\.item) }

    /// Takes over what a change has made of the items. What is shared is marked as removed, for the shared history.
    package mutating func apply(_ changes: ClipHistory.Changes, of history: ClipHistory) {
        for key in changes.written.union(changes.removed) {
            let isShared = if case .item(_, isShared: true) = self[key] { true } else { false }
            if let item = history.items[key] {
                self[key] = .item(item, isShared: isShared)
            } else {
                self[key] = isShared ? .removed : nil
            }
        }
    }

    /// The same items, of which none has been shared.
    package var unshared: Self { items.mapValues { .item($0, isShared: false) } }
}

/// What the history of a device and the shared one are to have of an item, after either has changed.
///
/// The shared history keeps only the newest write of an item, so each device keeps all that it knows beside it, and writes it again
/// where another's write knew less. Each such write is more than what was there: devices cannot answer each other for ever. A
/// removal beats every change.
package struct Reconciliation: Hashable, Sendable {
    package var local: LocalEntry?
    package var shared: ClipItem?

    package init(_ local: LocalEntry?, _ shared: ClipItem?) {
        let known: ClipItem?
        switch (local, shared) {
        case (.removed, _), (nil, nil), (.item(_, isShared: true), nil): known = nil
        case (.item(let item, isShared: false), nil): known = item
        case (nil, let item?): known = item
        case (.item(let item, _), let other?): known = item.joined(other)
        }
        self.local = known.map { .item($0, isShared: true) }
        self.shared = known
    }
}
