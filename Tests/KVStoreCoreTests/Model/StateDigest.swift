/// 128 bits that represent a state. The two lanes are mixed differently, so that among the
/// millions of states of a search the probability of a collision is below 1 in 10^20.
struct StateDigest: Hashable, Comparable {
    private(set) var low: UInt64 = 0x243F_6A88_85A3_08D3
    private(set) var high: UInt64 = 0x1319_8A2E_0370_7344

    mutating func mix(_ value: UInt64) {
        low = (low ^ value) &* 0x9E37_79B9_7F4A_7C15
        low ^= low >> 32
        high = (high &+ value) &* 0xC2B2_AE3D_27D4_EB4F
        high ^= high >> 29
    }

    static func < (left: StateDigest, right: StateDigest) -> Bool {
        (left.low, left.high) < (right.low, right.high)
    }
}
