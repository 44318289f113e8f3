package import Essentials
import KVStoreWire

/// What all machines together used in the last 53 weeks, day by day: derived from the ledger, which is too large for a
/// screen, by a machine that reads it. One value for all machines, as JSON:
///
///     {"at":1795858017,"cents":[120,0,340],"from":"2026-11-26","kilotokens":[310,0,820],"v":1}
package struct UsageYear: Sendable, Equatable {
    package static let storeKey = AlertNotice.sharedPrefix + "year"
    /// 52 weeks before the present one, and that.
    package static let dayCount = 53 * 7

    /// Days since 1970, from the first to the last with use. Empty without any.
    package let days: Range<Int>
    /// When it was computed, in whole seconds.
    package let date: Date
    private let cents: [Int]
    private let kilotokens: [Int]

    package static let byteLimit = 16_384
    private static let countLimit = 400
    /// Up to $99,999.99 and 10 billion tokens a day, with which the value has 6 KB.
    private static let amounts = 0...9_999_999
    /// Until the year 3000.
    private static let seconds = 0...32_503_679_999

    /// - Parameters:
    ///   - days: dollars and tokens by days since 1970. Left out are those that are in the last 53 weeks in no time
    ///     zone: of UTC's days, tomorrow has begun somewhere, and yesterday has not ended everywhere.
    ///   - date: now.
    package init(days: [Int: (dollars: Double, tokens: Int)], at date: Date) {
        let second = min(max(date.timeIntervalSince1970.wholeSeconds, Self.seconds.lowerBound), Self.seconds.upperBound)
        self.date = Date(timeIntervalSince1970: Double(second))
        let tomorrow = second / 86_400 + 1
        var used: [Int: (cents: Int, kilotokens: Int)] = [:]
        for (day, amount) in days where day <= tomorrow && day > tomorrow - 2 - Self.dayCount {
            let cents = amount.dollars > 0 ? (amount.dollars * 100).rounded() : 0
            // Few tokens are a use, too.
            let kilotokens = amount.tokens / 1_000 + (amount.tokens % 1_000 >= 500 ? 1 : 0)
            let most = Self.amounts.upperBound
            let rounded = (Int(min(cents, Double(most))), min(max(kilotokens, amount.tokens > 0 ? 1 : 0), most))
            if rounded != (0, 0) { used[day] = rounded }
        }
        self.days = used.keys.min().flatMap { first in used.keys.max().map { first..<$0 + 1 } } ?? 0..<0
        cents = self.days.map { used[$0]?.cents ?? 0 }
        kilotokens = self.days.map { used[$0]?.kilotokens ?? 0 }
    }

    /// Whether it is to take the place of a stored one: it says something else, and that is not too new.
    ///
    /// - Parameter interval: in seconds.
    package func isDue(after stored: UsageYear?, interval: TimeInterval) -> Bool {
        guard let stored else { return !days.isEmpty }
        // One of a clock that is ahead does not stay for ever.
        return (days != stored.days || cents != stored.cents || kilotokens != stored.kilotokens)
            && !(0..<interval).contains(date.timeIntervalSince(stored.date))
    }

    /// Nothing outside of `days`.
    package subscript(day: Int) -> CostState.Amount {
        guard days.contains(day) else { return CostState.Amount(tokens: 0, costUSD: 0) }
        let index = day - days.lowerBound
        return CostState.Amount(tokens: kilotokens[index] * 1_000, costUSD: Double(cents[index]) / 100)
    }
}

extension UsageYear {
    private struct Stored: Codable {
        var v = 1
        var from: String
        var cents: [Int]
        var kilotokens: [Int]
        var at: Int
    }

    /// Nil for what is damaged, out of range or of a newer version.
    package init?(stored data: Data) {
        guard let stored = StoredJSON.decode(Stored.self, from: data, byteLimit: Self.byteLimit), stored.v == 1,
            stored.cents.count <= Self.countLimit, stored.kilotokens.count == stored.cents.count,
            (stored.cents + stored.kilotokens).allSatisfy(Self.amounts.contains),
            Self.seconds.contains(stored.at), stored.from.utf8.count == 10,
            let from = DateFormat.date(stored.from)?.timeIntervalSince1970.wholeSeconds, Self.seconds.contains(from)
        else { return nil }
        days = from / 86_400..<from / 86_400 + stored.cents.count
        date = Date(timeIntervalSince1970: Double(stored.at))
        cents = stored.cents
        kilotokens = stored.kilotokens
    }

    package var data: Data {
        let first = Date(timeIntervalSince1970: Double(days.lowerBound) * 86_400)
        return StoredJSON.data(
            of: Stored(
                from: String(DateFormat.text(first).prefix(10)), cents: cents, kilotokens: kilotokens,
                at: date.timeIntervalSince1970.wholeSeconds))
    }
}
