/// The stored form of a track: the number of its first slot, how many there are, then tokens.
///
/// | byte | slots |
/// |---|---|
/// | `0ddddddd` | one, whose level is the last level plus d (two's complement, -64…63 half percents) |
/// | `10nnnnnn` | n + 1, equal to the one before them, which is no gap |
/// | `110nnnnn` | n + 1 gaps |
/// | `1110mmmm` | one with marks: m₀ a level follows, m₁ the level before a reset follows, m₂ reached, m₃ estimate |
///
/// The last level is 0 at the start. A slot of `0ddddddd` is an estimate if the last one with a level was, and not
/// reached.
struct SlotTokens {
    private enum Token {
        static let repetition: UInt8 = 0x80
        static let gaps: UInt8 = 0xC0
        static let marks: UInt8 = 0xE0
    }

    private enum Mark {
        static let level: UInt8 = 1
        static let reset: UInt8 = 2
        static let reached: UInt8 = 4
        static let estimate: UInt8 = 8
    }

    private var lastLevel = PercentLevel.zero
    private var wasEstimate = false

    private mutating func remember(_ slot: HistorySlot) {
        guard let level = slot.level else { return }
        lastLevel = level
        wasEstimate = slot.isEstimate
    }

    // MARK: - Encoding

    static func encode(_ track: SlotTrack) -> [UInt8] {
        var tokens = SlotTokens()
        var bytes: [UInt8] = []
        bytes.append(varint: track.first)
        bytes.append(varint: track.slots.count)
        var rest = track.slots[...]
        while let slot = rest.first {
            let count = rest.prefix { $0 == slot }.count
            rest = rest.dropFirst(count)
            if slot.isGap {
                append(count, of: Token.gaps, limit: 32, to: &bytes)
            } else {
                tokens.append(slot, to: &bytes)
                append(count - 1, of: Token.repetition, limit: 64, to: &bytes)
            }
        }
        return bytes
    }

    private static func append(_ count: Int, of token: UInt8, limit: Int, to bytes: inout [UInt8]) {
        for start in stride(from: 0, to: count, by: limit) {
            bytes.append(token | UInt8(min(limit, count - start) - 1))
        }
    }

    private mutating func append(_ slot: HistorySlot, to bytes: inout [UInt8]) {
        defer { remember(slot) }
        if let level = slot.level, slot.levelBeforeReset == nil, !slot.isReached, slot.isEstimate == wasEstimate {
            let change = Int(level.halves) - Int(lastLevel.halves)
            if (-64...63).contains(change) { return bytes.append(UInt8(change & 0x7F)) }
        }
        bytes.append(
            Token.marks | (slot.level == nil ? 0 : Mark.level)
                | (slot.levelBeforeReset == nil ? 0 : Mark.reset)
                | (slot.isReached ? Mark.reached : 0) | (slot.isEstimate ? Mark.estimate : 0))
        bytes += [slot.level, slot.levelBeforeReset].compactMap { $0?.halves }
    }

    // MARK: - Decoding

    /// - Parameters:
    ///   - empty: decides how many slots there may be.
    ///   - secondsLimit: the latest time that a slot may begin.
    static func decode(
        _ reader: inout ByteReader, into empty: SlotTrack, secondsLimit: Int
    ) throws(HistoryCodecError) -> SlotTrack {
        let first = try reader.varint(upTo: secondsLimit / empty.slotSeconds)
        let count = try reader.varint(upTo: empty.capacity)
        var tokens = SlotTokens()
        var slots: [HistorySlot] = []
        slots.reserveCapacity(count)
        while slots.count < count {
            let byte = try reader.byte()
            switch byte {
            case ..<Token.repetition:
                slots.append(try tokens.slot(changedBy: Int(Int8(bitPattern: byte << 1)) >> 1))
            case ..<Token.gaps:
                guard let last = slots.last, !last.isGap else { throw .notAHistory }
                slots += repeatElement(last, count: Int(byte & 0x3F) + 1)
            case ..<Token.marks:
                slots += repeatElement(.gap, count: Int(byte & 0x1F) + 1)
            default:
                guard byte & 0x10 == 0 else { throw .notAHistory }
                slots.append(try tokens.slot(withMarks: byte & 0x0F, from: &reader))
            }
        }
        guard slots.count == count else { throw .notAHistory }
        return empty.with(first: first, slots: slots)
    }

    private mutating func slot(changedBy change: Int) throws(HistoryCodecError) -> HistorySlot {
        let halves = Int(lastLevel.halves) + change
        guard (0...Int(PercentLevel.greatest)).contains(halves) else { throw .notAHistory }
        let slot = HistorySlot(level: PercentLevel(halves: UInt8(halves)), isEstimate: wasEstimate)
        remember(slot)
        return slot
    }

    private mutating func slot(
        withMarks marks: UInt8, from reader: inout ByteReader
    ) throws(HistoryCodecError) -> HistorySlot {
        var slot = HistorySlot()
        if marks & Mark.level != 0 { slot.level = try reader.level() }
        if marks & Mark.reset != 0 { slot.levelBeforeReset = try reader.level() }
        slot.isReached = marks & Mark.reached != 0
        slot.isEstimate = marks & Mark.estimate != 0
        // Without a level there is nothing to estimate, and without anything it is a gap.
        guard !slot.isGap, slot.level != nil || !slot.isEstimate else { throw .notAHistory }
        remember(slot)
        return slot
    }
}
