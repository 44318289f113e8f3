/// The counts of a response or a thread of Codex.
struct CodexUsage: Codable, Hashable {
    var input = 0
    var cached = 0
    var cacheWrite = 0
    var output = 0
    var reasoning = 0
    var isEmpty: Bool { input == 0 && output == 0 }

    var counts: TokenCounts {
        let cached = min(cached, input)
        let written = min(cacheWrite, input - cached)
        return TokenCounts(
            input: input - cached - written, output: output, reasoning: min(reasoning, output),
            cacheRead: cached, cacheWrite5m: written)
    }

    func growth(since total: CodexUsage) -> CodexUsage {
        CodexUsage(
            input: input &- total.input, cached: max(0, cached &- total.cached),
            cacheWrite: max(0, cacheWrite &- total.cacheWrite), output: output &- total.output,
            reasoning: max(0, reasoning &- total.reasoning))
    }

    /// Whether both are of one response, if they are stated next to each other. What else they state can be invalid.
    func isOfResponse(_ other: CodexUsage?) -> Bool { input == other?.input && output == other?.output }

    /// Whether no count is smaller than that of `other`.
    func includes(_ other: CodexUsage) -> Bool {
        input >= other.input && output >= other.output && cached >= other.cached
            && cacheWrite >= other.cacheWrite && reasoning >= other.reasoning
    }

    static func + (left: CodexUsage, right: CodexUsage) -> CodexUsage {
        CodexUsage(
            input: left.input &+ right.input, cached: left.cached &+ right.cached,
            cacheWrite: left.cacheWrite &+ right.cacheWrite,
            output: left.output &+ right.output, reasoning: left.reasoning &+ right.reasoning)
    }
}

extension CodexUsage {
    /// Nil for what is no object.
    init?(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return nil }
        self.init()
        while let key = cursor.nextKey() {
            switch key {
            case "input_tokens": input = cursor.count() ?? 0
            case "cached_input_tokens": cached = cursor.count() ?? 0
            case "cache_write_input_tokens": cacheWrite = cursor.count() ?? 0
            case "output_tokens": output = cursor.count() ?? 0
            case "reasoning_output_tokens": reasoning = cursor.count() ?? 0
            default: cursor.skip()
            }
        }
    }
}

/// The totals that a thread states, of which one can begin again, or two take turns.
struct CodexTotals: Codable {
    private var current: CodexUsage?
    /// Where the total was before it fell.
    private var other: CodexUsage?
    /// Whether `current` is what it fell to, or the smaller one of two.
    private var hasJustFallen = false
    /// The last line's, where there are no totals.
    private var last: CodexUsage?
    private(set) var restartCount: UInt32 = 0

    /// What was used according to the next line; nil if that says nothing new. Early versions state one of the two.
    ///
    /// - Parameter isInherited: whether the first total begins with another thread's.
    mutating func use(in total: CodexUsage?, _ last: CodexUsage?, isInherited: Bool) -> CodexUsage? {
        defer { self.last = last }
        guard let new = total ?? last.map({ (current ?? CodexUsage()) + $0 }), new != current,
            total != nil || last != self.last
        else { return nil }
        guard let current else {
            self.current = new
            return last ?? (isInherited ? nil : new)
        }
        if total != nil, let other, isContinued(other, by: new, last) {
            (self.other, self.current) = (current, new)
            hasJustFallen = !new.includes(current)
            return new == other ? nil : Self.smaller(new.growth(since: other), last)
        }
        self.current = new
        // An earlier total that was written late.
        if let last, new != last, !new.includes(current), (new + last).includes(current) {
            return nil
        }
        hasJustFallen = !new.includes(current)
        guard hasJustFallen || new == last && !current.isEmpty else {
            return Self.smaller(new.growth(since: current), last)
        }
        other = new.isEmpty ? nil : current
        restartCount += 1
        return last ?? new
    }

    private func isContinued(_ other: CodexUsage, by new: CodexUsage, _ last: CodexUsage?) -> Bool {
        guard let current, new.includes(other) else { return false }
        // One that has begun again is as large as what was used last.
        if !new.includes(current) {
            return new != last || new == other || new.growth(since: other) == last
        }
        guard other.includes(current) else { return false }
        return last.map { new == other || new.growth(since: other) == $0 } ?? hasJustFallen
    }

    /// More than the last response used is not this thread's.
    private static func smaller(_ growth: CodexUsage, _ last: CodexUsage?) -> CodexUsage {
        guard let last, last.input + last.output < growth.input + growth.output else { return growth }
        return last
    }

    /// A copy of a line has the same id. Of the lines of a thread others have it only after a restart.
    func id(of total: CodexUsage?, _ last: CodexUsage?) -> UInt64 {
        var hash = ContentHash()
        for usage in [total ?? current ?? CodexUsage(), last ?? CodexUsage()] {
            for number in [usage.input, usage.cached, usage.output, usage.reasoning] {
                hash.add(UInt64(bitPattern: Int64(number)))
            }
        }
        return hash.value
    }
}
