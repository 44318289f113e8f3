/// The items of one device's store, and what each event makes of them. It performs nothing: each change returns which
/// keys are to be written and which removed.
struct ClipHistory: Sendable {
    private(set) var items: [ItemKey: ClipItem] = [:]
    private(set) var limits: HistoryLimits

    /// What the store is to do after a change.
    struct Changes: Hashable, Sendable {
        var written: Set<ItemKey> = []
        /// As the user wants it, on all devices.
        var removed: Set<ItemKey> = []
        /// For room, or as their time is over: as far as this device knows.
        var dropped: Set<ItemKey> = []
        /// How many of the dropped ones, by the limit that they were over.
        var overLimit: [HistoryLimits.Limit: Int] = [:]

        var isEmpty: Bool { written.isEmpty && removed.isEmpty && dropped.isEmpty }

        mutating func formUnion(_ other: Changes) {
            written.formUnion(other.written)
            removed.formUnion(other.removed)
            dropped.formUnion(other.dropped)
            overLimit.merge(other.overLimit, uniquingKeysWith: +)
        }
    }

    /// - Parameter items: what the store has, which is not trimmed until something is added.
    init(items: [ItemKey: ClipItem] = [:], limits: HistoryLimits = HistoryLimits()) {
        self.items = items
        self.limits = limits
    }

    /// The bytes of the quota that all items take. Encodes each of them.
    var byteCount: Int { items.values.reduce(0) { $0 + byteCount(of: $1) } }

    private func byteCount(of item: ClipItem) -> Int { limits.storedByteCount(item.encoded.count) }

    /// The keys of all items in the order of the list. Pins keep the order among themselves.
    func sorted(by order: ItemOrder = .lastCopiedAt, pins: PinPlacement = .top) -> [ItemKey] {
        let entries = items.map { key, item in
            let value =
                switch order {
                case .lastCopiedAt: item.lastCopied.milliseconds
                case .firstCopiedAt: item.firstCopied.milliseconds
                case .numberOfCopies: Int64(item.copyCount)
                }
            let group = item.isPinned == (pins == .top) ? 1 : 0
            return (key: key, rank: (group, value, item.lastCopied, key))
        }
        return entries.sorted { $0.rank > $1.rank }.map(\.key)
    }

    // MARK: Adding

    enum Addition: Hashable, Sendable {
        case added(Changes)
        /// An item that has all of it counts one more copy.
        case counted(ItemKey, Changes)
        /// Nothing but markers.
        case empty
        /// Pins alone leave no room for it; the history is as it was.
        case full(neededByteCount: Int)
    }

    /// Adds a copy, or counts it where an item supersedes it, then trims.
    ///
    /// - Parameters:
    ///   - item: a first copy.
    ///   - key: of all its contents.
    ///   - contents: all of them, also for a stub.
    mutating func add(_ item: ClipItem, _ key: ItemKey, contents: ClipContents) -> Addition {
        guard contents.isLasting else { return .empty }
        if let existing = superseding(contents, key) {
            return .counted(existing, countCopy(of: existing, on: item.origin.device, at: item.lastCopied))
        }
        let before = self
        items[key] = item
        var changes = trim()
        guard changes.dropped.remove(key) == nil else {
            self = before
            return .full(neededByteCount: byteCount(of: item))
        }
        changes.written.insert(key)
        return .added(changes)
    }

    /// Which item has all of these contents: that of the same key, else the one copied last.
    func superseding(_ contents: ClipContents, _ key: ItemKey) -> ItemKey? {
        if items[key] != nil { return key }
        return items.filter { $0.value.contents?.supersede(contents) == true }
            .max { ($0.value.lastCopied, $0.key) < ($1.value.lastCopied, $1.key) }?.key
    }

    /// Counts a copy of an item, as one from the history is.
    mutating func countCopy(of key: ItemKey, on device: String, at time: Timestamp) -> Changes {
        change(key) { $0.copyAgain(on: device, at: time) }
    }

    private mutating func change(_ key: ItemKey, _ edit: (inout ClipItem) -> Void) -> Changes {
        guard var item = items[key] else { return Changes() }
        edit(&item)
        items[key] = item
        return Changes(written: [key])
    }

    /// Takes over what another history knows of an item. Trims only later, as does reading a history.
    mutating func join(_ item: ClipItem, _ key: ItemKey) {
        items[key] = items[key]?.joined(item) ?? item
    }

    // MARK: Pins

    /// Pins an item with a free letter, or unpins it. Without a free letter it is pinned all the same.
    ///
    /// - Parameter reserved: letters of shortcuts.
    mutating func togglePin(
        _ key: ItemKey, at time: Timestamp, reserved: Set<PinLetter> = [],
        using randomness: inout some RandomNumberGenerator
    ) -> Changes {
        guard let item = items[key] else { return Changes() }
        let used = Set(items.values.compactMap { $0.pin.pin?.letter }).union(reserved)
        let pin =
            item.isPinned
            ? nil
            : PinLetter.free(besides: used, using: &randomness).map(PinState.Pin.letter) ?? .unlettered
        return change(key) { $0.set(pin, at: time) }
    }

    /// Pins an item with a letter, which another item that has it loses but for its pin.
    mutating func pin(_ key: ItemKey, _ letter: PinLetter, at time: Timestamp) -> Changes {
        guard items[key] != nil else { return Changes() }
        var changes = change(key) { $0.set(.letter(letter), at: time) }
        for (other, item) in items where other != key && item.pin.pin?.letter == letter {
            changes.written.formUnion(change(other) { $0.set(.unlettered, at: time) }.written)
        }
        return changes
    }

    /// The item that a letter selects. Of several, which devices can pin at the same time, the one pinned last.
    func pinned(_ letter: PinLetter) -> ItemKey? {
        items.filter { $0.value.pin.pin?.letter == letter }
            .max { ($0.value.pin, $0.key) < ($1.value.pin, $1.key) }?.key
    }

    // MARK: Removing

    mutating func remove(_ keys: some Sequence<ItemKey>) -> Changes {
        var changes = Changes()
        for key in keys where items[key] != nil {
            items[key] = nil
            changes.removed.insert(key)
        }
        return changes
    }

    /// Removes what is not pinned, whatever is searched for at the time; with pins, everything.
    mutating func clear(withPins: Bool = false) -> Changes {
        remove(items.filter { withPins || !$0.value.isPinned }.keys)
    }

    /// Removes what is not pinned and was copied last longer ago than that.
    mutating func expire(_ expiry: Expiry, at time: Timestamp) -> Changes {
        guard let age = expiry.milliseconds else { return Changes() }
        let keys = items.filter { !$0.value.isPinned && time.milliseconds(since: $0.value.lastCopied) > age }.keys
        return Changes(dropped: remove(keys).removed)
    }

    /// Removes the item that was in the clipboard after its owner has cleared that, as password managers do, unless it
    /// is pinned or at least a minute old.
    mutating func selectionCleared(_ key: ItemKey, at time: Timestamp) -> Changes {
        guard let item = items[key], !item.isPinned,
            time.milliseconds(since: item.lastCopied) < 60_000
        else { return Changes() }
        return remove([key])
    }

    /// Removes items that are not pinned, the longest not copied first (of equally old ones the lower key), while there
    /// are too many or they take too much. By the last copy in every order of the list: in that of the number of
    /// copies, each new one would go at once.
    mutating func trim() -> Changes {
        var oldest = items.filter { !$0.value.isPinned }
            .sorted { ($0.value.lastCopied, $0.key) > ($1.value.lastCopied, $1.key) }
        let pinned = items.count - oldest.count
        var byteCount = byteCount
        let limit = min(limits.size, max(0, HistoryLimits.itemLimit - pinned))
        var changes = Changes()
        while let last = oldest.last, oldest.count > limit || byteCount > limits.byteLimit {
            changes.overLimit[oldest.count > limit ? .size : .bytes, default: 0] += 1
            oldest.removeLast()
            byteCount -= self.byteCount(of: last.value)
            items[last.key] = nil
            changes.dropped.insert(last.key)
        }
        return changes
    }
}

/// By which items are ordered, each from the most to the least; of equal ones that copied last comes first.
enum ItemOrder: String, CaseIterable, Sendable {
    case lastCopiedAt, firstCopiedAt, numberOfCopies
}

enum PinPlacement: String, CaseIterable, Sendable { case top, bottom }
