/// Why requests cost other than the first rates of a model's list.
package struct Surcharge: RawRepresentable, Sendable, Hashable, BitwiseCopyable {
    /// The length and, in the bits of 4 and 8, the region and the hours.
    package let rawValue: UInt8

    package init(rawValue: UInt8 = 0) { self.rawValue = rawValue & 15 }

    init(length: Int, isRegional: Bool, isOffPeak: Bool = false) {
        rawValue = UInt8(min(length, 3)) | (isRegional ? 4 : 0) | (isOffPeak ? 8 : 0)
    }

    /// That of a request to a model without a price: should it have one later, its prompts are probably long above the
    /// same length as those of most models.
    init(ofUnpriced tokens: TokenCounts, isRegional: Bool) {
        self.init(length: tokens.prompt > 200_000 ? 1 : 0, isRegional: isRegional)
    }

    /// How many of the list's thresholds the prompt exceeds; at most three are told apart.
    var length: Int { Int(rawValue & 3) }
    /// Whether they were made where the provider charges more.
    var isRegional: Bool { rawValue & 4 != 0 }
    /// Whether they were made in the hours in which the provider charges less.
    var isOffPeak: Bool { rawValue & 8 != 0 }
}
