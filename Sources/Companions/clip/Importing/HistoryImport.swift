import Essentials

/// Adds items of another tool to the history of this machine.
struct HistoryImport {
    let recorder: Recorder
    var now = Timestamp.now

    /// What became of the items: only how many, and no contents.
    struct Summary: Encodable, Equatable {
        var read = 0
        var added = 0
        /// In the history before, or the same as a newer one of the import.
        var alreadyThere = 0
        /// Older than what the history holds, or than it keeps.
        var leftOut = 0
        /// Pinned ones for which pins leave no room.
        var notFitting = 0
        /// Items of the history that had to go for newer ones.
        var removed = 0
        /// By the reason.
        var skipped: [String: Int] = [:]
    }

    /// When imported items were pinned, which no tool notes: before any change here, so that it does not undo one.
    private static let pinned = Timestamp(milliseconds: 0)

    /// An item that is kept, with what the filter has left of it.
    private struct Candidate {
        var item: ImportedItem
        var contents: ClipContents
        var key: ItemKey
    }

    /// The newest are added first, so that an older copy of the same joins the newer one whether the history has room
    /// for it or not: importing the same again has no effect.
    ///
    /// - Parameters:
    ///   - time: of the newest item, for those without times: when the tool has written its history.
    ///   - progress: gets which share of the work is done, 0 to 1.
    func add(
        _ imported: ImportedItems, writtenAt time: Timestamp, isDryRun: Bool, progress: (Double) -> Void = { _ in }
    ) throws -> Summary {
        var summary = Summary(read: imported.readCount, skipped: imported.unread)
        var candidates: [Candidate] = []
        for (index, item) in imported.items.enumerated() {
            progress(Double(index) / Double(2 * imported.items.count))
            switch recorder.filter.decide(item.offer, timer: MatchTimer(ContinuousClock())) {
            case .skip(let reason): summary.skipped[reason.description, default: 0] += 1
            case .keep(let contents):
                let key = ItemKey(of: contents)
                candidates.append(Candidate(item: dated(item), contents: contents, key: key))
            }
        }
        return try recorder.store.change(recorder.settings.limits) { history, _ in
            let former = history
            let stubs = add(candidates, writtenAt: min(time, now), &history, &summary, progress: progress)
            let changes = ClipHistory.Changes(
                written: Set(history.items.keys.filter { history.items[$0] != former.items[$0] }),
                dropped: Set(former.items.keys.filter { history.items[$0] == nil }))
            summary.removed = changes.dropped.count
            guard !isDryRun else {
                history = former
                return (ClipHistory.Changes(), summary)
            }
            let cache = ContentCache(recorder.store.files, recorder.device)
            // The least recently written go first when the cache is full.
            for (key, contents) in stubs.reversed() where history.items[key] != nil {
                try cache.insert(contents, for: key)
            }
            return (changes, summary)
        }
    }

    /// Without times that cannot be: an item of the future would never go.
    private func dated(_ item: ImportedItem) -> ImportedItem {
        var item = item
        let times = [item.first, item.last].compactMap { $0 }.filter { $0.milliseconds > 0 && $0 <= now }
        (item.first, item.last) = (times.min(), times.max())
        return item
    }

    /// - Returns: the contents of new items that are only stubs in the history, the newest first.
    private func add(
        _ candidates: [Candidate], writtenAt time: Timestamp, _ history: inout ClipHistory,
        _ summary: inout Summary, progress: (Double) -> Void
    ) -> [(ItemKey, ClipContents)] {
        let former = Set(history.items.keys)
        var letters = Set(history.items.values.compactMap { $0.pin.pin?.letter })
        var added: [ItemKey] = []
        var stubs: [(ItemKey, ClipContents)] = []
        for (index, candidate) in candidates.enumerated() {
            progress(0.5 + Double(index) / Double(2 * candidates.count))
            let existing = history.superseding(candidate.contents, candidate.key)
            let key = existing ?? candidate.key
            let rank = Timestamp(milliseconds: time.milliseconds - Int64(index))
            let known = existing.flatMap { history.items[$0] }
            let item = item(candidate, known: known, rank: rank, &letters)
            if known == nil {
                added.append(key)
                if item.contents == nil { stubs.append((key, candidate.contents)) }
            } else {
                summary.alreadyThere += 1
            }
            history.join(item, key)
            // Keeps the search for the same item short.
            if index % 64 == 63 { trim(&history, former, added, &summary) }
        }
        trim(&history, former, added, &summary)
        _ = history.expire(recorder.settings.expiry, at: now)
        summary.added = Set(added).count { history.items[$0] != nil }
        summary.leftOut = added.count - summary.added - summary.notFitting
        return stubs
    }

    /// What the history is to know of the item, which it may have.
    private func item(
        _ candidate: Candidate, known: ClipItem?, rank: Timestamp, _ letters: inout Set<PinLetter>
    ) -> ClipItem {
        let item = candidate.item
        let first = item.first ?? known?.firstCopied ?? rank
        let last = item.last ?? known?.lastCopied ?? rank
        var pin = item.pin
        if let letter = pin?.letter, known?.pin.pin?.letter != letter, !letters.insert(letter).inserted {
            pin = .unlettered
        }
        let copy = ItemByteLimit(kibibytes: recorder.device.itemKibibytes).item(
            of: candidate.contents, on: recorder.store.files.environment.deviceName,
            application: item.offer.application, at: last)
        let derived = ItemTitle.text(of: candidate.contents, limit: 1)
        let title = copy.origin.title ?? (derived.isEmpty ? item.title.flatMap(shown) : nil)
        return ClipItem(
            body: known?.body ?? copy.body,
            origin: ClipItem.Origin(device: copy.origin.device, application: copy.origin.application, title: title),
            firstCopied: first, lastCopied: last, counts: [copy.origin.device: UInt32(clamping: item.copies)],
            pin: pin.map { PinState($0, changed: Self.pinned) } ?? .never)
    }

    /// A title is looked at like a text.
    private func shown(_ title: String) -> String? {
        let offer = Offer([(ContentType.text.rawValue, Data(title.utf8))])
        switch recorder.filter.decide(offer, timer: MatchTimer(ContinuousClock())) {
        case .keep: return title
        case .skip: return nil
        }
    }

    /// Takes pins of the import back for which there is no room, the oldest first, then trims as after each copy.
    private func trim(
        _ history: inout ClipHistory, _ former: Set<ItemKey>, _ added: [ItemKey], _ summary: inout Summary
    ) {
        let limits = history.limits
        var pinned = history.items.filter { $0.value.isPinned }
        var byteCount = pinned.values.reduce(0) { $0 + limits.storedByteCount($1.encoded.count) }
        for key in added.reversed() {
            guard byteCount > limits.byteLimit || pinned.count > HistoryLimits.itemLimit else { break }
            guard let item = pinned.removeValue(forKey: key) else { continue }
            byteCount -= limits.storedByteCount(item.encoded.count)
            _ = history.remove([key])
            summary.notFitting += 1
        }
        _ = history.trim()
    }
}
