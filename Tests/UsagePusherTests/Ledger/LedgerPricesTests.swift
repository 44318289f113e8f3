import Foundation
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Past usage at other prices")
struct LedgerPricesTests {
    @Test("sums that are calculated again at the same prices cost what their requests cost, for every model")
    func samePrices() {
        var random = SeededGenerator(seed: 1)
        var ledger = LedgerPrices(.packaged)
        for price in ModelPrices.packaged.all {
            guard let match = ModelPrices.packaged.match(price.name) else { continue }
            var lines: [LedgerLine] = []
            for _ in 0..<40 {
                let size = [1, 5_000, 90_000, 250_000, 400_000][random.below(5)]
                let counts = TokenCounts(
                    input: random.below(size), output: random.below(9_000), cacheRead: random.below(size),
                    cacheWrite5m: random.below(size), webSearches: match.price.webSearch == nil ? 0 : random.below(3))
                var line = LedgerLine(slot: 0, model: price.name)
                line.tier = [.standard, .flex, .batch, .fast, .priority, .ultrafast][random.below(6)]
                let isRegional = random.chance(4)
                let time = Int64(random.below(1_000_000)) * 3_600_000
                line.surcharge = match.price.surcharge(of: counts, isRegional: isRegional, at: time)
                let cost = match.cost(of: counts, tier: line.tier, isRegional: isRegional, at: time)
                guard cost.total != nil else { continue }
                line.amount.requestCount = 1
                line.amount.counts = counts
                line.amount.cost = CostSums(own: .nan, calculated: cost, tokens: counts)
                if let index = lines.firstIndex(where: { $0.isLike(line) }) {
                    lines[index].amount += line.amount
                } else {
                    lines.append(line)
                }
            }
            for line in lines {
                var again = line
                let isKnown = ledger.recalculate(&again)
                #expect(isKnown)
                let difference = again.amount.cost.dollars(.auto) - line.amount.cost.dollars(.auto)
                #expect(abs(difference) < 1e-9, "\(price.name) \(line.tier) \(line.surcharge): \(difference)")
            }
        }
    }

    @Test("what a tool has stated stays, and what nobody knows a price of stays as it is")
    func statedCosts() {
        let own = ModelPrices.packaged.replacing([
            "m": ModelPrice(name: "m", standard: .init(rates: .init(input: 2, output: 2)))
        ])
        var ledger = LedgerPrices(own)
        func dollars(_ model: String?, own: [Double], before: TokenCost) -> [Double] {
            var line = LedgerLine(slot: 0, model: model)
            for cost in own {
                let counts = TokenCounts(input: 1_000_000)
                line.amount.counts += counts
                line.amount.cost += CostSums(own: cost, calculated: before, tokens: counts)
            }
            _ = ledger.recalculate(&line)
            return [CostMode.auto, .calculate, .display].map(line.amount.cost.dollars)
        }
        #expect(dollars("m", own: [.nan, .nan], before: TokenCost(priced: 1)) == [4, 4, 0])
        #expect(dollars("m", own: [7, 7], before: TokenCost(priced: 1)) == [14, 4, 14])
        #expect(dollars("m", own: [7, .nan], before: TokenCost(priced: 1)) == [9, 4, 7])
        #expect(dollars("m", own: [.nan], before: TokenCost(gaps: .model)) == [2, 2, 0])
        for model in [nil, "unknown-model"] {
            #expect(dollars(model, own: [.nan], before: TokenCost(priced: 1)) == [1, 1, 0])
        }
    }
}
