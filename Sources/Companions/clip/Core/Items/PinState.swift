/// Whether an item is pinned, and since when it is so or not: of two states, that of the later change holds.
struct PinState: Hashable, Sendable, Comparable {
    enum Pin: Hashable, Sendable, Comparable {
        /// Pinned while no letter was free.
        case unlettered
        case letter(PinLetter)
    }

    let pin: Pin?
    let changed: Timestamp

    init(_ pin: Pin?, changed: Timestamp) { (self.pin, self.changed) = (pin, changed) }

    static let never = Self(nil, changed: Timestamp(milliseconds: .min))

    static func < (left: Self, right: Self) -> Bool {
        (left.changed, left.pin.rank, left.pin ?? .unlettered)
            < (right.changed, right.pin.rank, right.pin ?? .unlettered)
    }
}

extension PinState.Pin? {
    fileprivate var rank: Int { self == nil ? 0 : 1 }
}

/// A letter that selects a pinned item: b to y without q, v and w, which have meanings of their own beside a modifier.
struct PinLetter: Hashable, Sendable, Comparable {
    let character: Character

    /// Nil for a character that selects no pin.
    init?(_ character: Character) {
        guard Self.characters.contains(character) else { return nil }
        self.character = character
    }

    static func < (left: Self, right: Self) -> Bool { left.character < right.character }

    private static let characters = "bcdefghijklmnoprstuxy"
    static let all = characters.compactMap(PinLetter.init)

    /// A random one of the letters that are neither used nor reserved.
    static func free(besides used: Set<PinLetter>, using randomness: inout some RandomNumberGenerator) -> PinLetter? {
        all.filter { !used.contains($0) }.randomElement(using: &randomness)
    }
}
