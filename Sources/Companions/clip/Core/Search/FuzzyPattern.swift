/// Approximate matching as in Fuse (krisk/fuse-swift 1.4.0, with the threshold that Maccy sets): the Bitap algorithm of
/// Wu and Manber, where a match with errors costs their share of the pattern, and its distance from the beginning a
/// hundredth for each character. What costs more than 0.7 is no match, so that one beginning at character 71 is never
/// found.
///
/// Kept as it is there, since users know its order: the score is that of the last match seen, not the best; characters
/// of the pattern count as matching wherever the search has looked; and a pattern of more than 64 characters matches
/// only an equal text.
struct FuzzyPattern {
    static let threshold = 0.7
    static let distance = 100.0

    private let text: [UInt32]
    /// At which places of the pattern a character is, the last of them as bit 0.
    private let places: [UInt32: UInt64]
    /// The same for ASCII, where most looking up is done.
    private let asciiPlaces: [UInt64]
    /// The bit of a match of the whole pattern; 0 if there are not as many bits.
    private let matchBit: UInt64

    struct Match: Equatable {
        var score: Double
        var ranges: [Range<Int>]
    }

    /// - Parameter text: numbers of characters, not empty.
    init(_ text: [UInt32]) {
        self.text = text
        var places: [UInt32: UInt64] = [:]
        for (index, number) in text.enumerated() {
            places[number, default: 0] |= 1 << UInt64(text.count - 1 - index)
        }
        self.places = places
        asciiPlaces = (0..<128).map { places[$0] ?? 0 }
        matchBit = 1 << UInt64(max(0, text.count - 1))
    }

    private func places(of number: UInt32) -> UInt64 { number < 128 ? asciiPlaces[Int(number)] : places[number] ?? 0 }

    private func score(errors: Int, at location: Int) -> Double {
        Double(errors) / Double(text.count) + Double(location) / Self.distance
    }

    /// Nil for no match.
    func match(_ other: [UInt32]) -> Match? {
        guard !text.isEmpty else { return nil }
        if other == text { return Match(score: 0, ranges: [0..<text.count]) }
        guard matchBit != 0 else { return nil }
        var state = State(
            threshold: Self.threshold, reach: text.count + other.count,
            matched: Array(repeating: false, count: other.count))
        var searched = 0
        while let exact = other.firstRange(ofNumbers: text, from: searched) {
            state.threshold = min(state.threshold, score(errors: 0, at: exact.lowerBound))
            for location in exact { state.matched[location] = true }
            searched = exact.upperBound
        }
        for errors in text.indices {
            search(other, errors: errors, &state)
            if score(errors: errors + 1, at: 0) > state.threshold { break }
        }
        guard let score = state.score, score != 1 else { return nil }
        return Match(score: score, ranges: Self.ranges(state.matched))
    }

    private struct State {
        var threshold: Double
        /// How far from the beginning a match can still be good enough.
        var reach: Int
        /// For each character up to `reach`, which beginnings of the pattern match there; of one error less.
        var bits: [UInt64] = []
        var matched: [Bool]
        var score: Double?
    }

    private func search(_ other: [UInt32], errors: Int, _ state: inout State) {
        // By halving, as in Fuse: what it ends with is not always the farthest.
        var low = 0
        var middle = state.reach
        while low < middle {
            if score(errors: errors, at: middle) <= state.threshold {
                low = middle
            } else {
                state.reach = middle
            }
            middle = (state.reach - low) / 2 + low
        }
        state.reach = middle
        let end = min(middle, other.count) + text.count
        var bits = [UInt64](repeating: 0, count: end + 2)
        bits[end + 1] = errors < 64 ? 1 << UInt64(errors) - 1 : .max
        for index in stride(from: end, through: 1, by: -1) {
            let location = index - 1
            let places = location < other.count ? places(of: other[location]) : 0
            if places != 0 { state.matched[location] = true }
            bits[index] = (bits[index + 1] << 1 | 1) & places
            if errors > 0 {
                let after = state.bits[index + 1]
                bits[index] |= (after | state.bits[index]) << 1 | 1 | after
            }
            guard bits[index] & matchBit != 0 else { continue }
            let score = score(errors: errors, at: location)
            state.score = score
            guard score <= state.threshold else { continue }
            state.threshold = score
            if location == 0 { break }
        }
        state.bits = bits
    }

    private static func ranges(_ matched: [Bool]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for (index, isMatched) in matched.enumerated() where isMatched {
            if let last = ranges.last, last.upperBound == index {
                ranges[ranges.count - 1] = last.lowerBound..<(index + 1)
            } else {
                ranges.append(index..<(index + 1))
            }
        }
        return ranges
    }
}
