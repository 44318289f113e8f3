/// Slots of equal length in the order of time, the newest `capacity` of them.
///
/// A slot is numbered by its start divided by its length, in seconds since 1970. What lies between two observations are
/// gaps; there is none at either end.
package struct SlotTrack: Sendable, Equatable {
    package let slotSeconds: Int
    package let capacity: Int
    /// The number of the first slot; without meaning if there is none.
    package private(set) var first = 0
    package private(set) var slots: [HistorySlot] = []

    /// 7 days at 15 minutes.
    static let fine = SlotTrack(slotSeconds: 900, capacity: 672)
    /// 90 days at 6 hours.
    static let coarse = SlotTrack(slotSeconds: 21_600, capacity: 360)

    private init(slotSeconds: Int, capacity: Int) {
        self.slotSeconds = slotSeconds
        self.capacity = capacity
    }

    package var isEmpty: Bool { slots.isEmpty }
    /// The number after the last slot.
    package var end: Int { first + slots.count }
    /// How long a slot is kept, in seconds.
    var span: Int { slotSeconds * capacity }

    func number(at seconds: Int) -> Int { seconds / slotSeconds }

    /// A gap outside of the track.
    subscript(number: Int) -> HistorySlot { number >= first && number < end ? slots[number - first] : .gap }

    /// The slots that are no gaps.
    package var entries: some Sequence<(number: Int, slot: HistorySlot)> {
        slots.enumerated().lazy.filter { !$0.element.isGap }.map { (number: first + $0.offset, slot: $0.element) }
    }

    /// Changes a slot. One that is older than the capacity is left alone; a newer one displaces the oldest.
    mutating func update(_ number: Int, _ change: (inout HistorySlot) -> Void) {
        if slots.isEmpty || number - end >= capacity {
            slots = []
            first = number
        }
        guard number >= end - capacity else { return }
        if number < first {
            slots.insert(contentsOf: repeatElement(.gap, count: first - number), at: 0)
            first = number
        }
        if number >= end { slots += repeatElement(.gap, count: number - end + 1) }
        change(&slots[number - first])
        keep(from: end - capacity, before: end)
    }

    /// Removes the slots outside of a range, then the gaps at both ends.
    mutating func keep(from lower: Int, before upper: Int) {
        if upper < end { slots.removeLast(min(slots.count, end - upper)) }
        if lower > first {
            let count = min(slots.count, lower - first)
            slots.removeFirst(count)
            first += count
        }
        while slots.last?.isGap == true { slots.removeLast() }
        let gaps = slots.prefix(while: \.isGap).count
        if gaps > 0 {
            slots.removeFirst(gaps)
            first += gaps
        }
        if slots.isEmpty { first = 0 }
    }

    /// Both tracks' slots, merged where they overlap. Both must have slots of the same length.
    func merged(with other: SlotTrack) -> SlotTrack {
        if other.isEmpty { return self }
        if isEmpty { return other }
        var result = self
        let end = max(end, other.end)
        let first = max(end - capacity, min(first, other.first))
        result.first = first
        result.slots = (first..<end).map { self[$0].merged(with: other[$0]) }
        result.keep(from: first, before: end)
        return result
    }

    /// The track with these slots, as decoded.
    ///
    /// - Precondition: at most `capacity`.
    func with(first: Int, slots: [HistorySlot]) -> SlotTrack {
        precondition(slots.count <= capacity)
        var track = self
        track.first = first
        track.slots = slots
        track.keep(from: first, before: track.end)
        return track
    }
}
