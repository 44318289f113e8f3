import Foundation
import LocalFiles
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Prices of models")
struct ModelPricesTests {
    private static let dataFile = Repository.root.appending(
        path: "Sources/UsagePusher/Tokens/model-prices.json")

    @Test("the table has a date, a source and a version")
    func origin() throws {
        let origin = ModelPrices.packaged.origin
        #expect(origin.date.wholeMatch(of: /20[0-9]{2}-[01][0-9]-[0-3][0-9]/) != nil)
        #expect(origin.source.hasPrefix("https://"))
        #expect(origin.version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
    }

    @Test("the table is a sorted line for each model, small, and without a mistake")
    func table() throws {
        let data = try Data(contentsOf: Self.dataFile)
        #expect(data.count < 80_000)
        let document = try ModelPricesDocument(data)
        #expect(document.issues == [])
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("    \"") }.map { $0.prefix { $0 != ":" } }
        #expect(lines == lines.sorted())
        #expect(lines.count == document.models.count && lines.count > 200)
        #expect(document.models.count == ModelPrices.packaged.all.count)
    }

    @Test("every price is finite, not negative, and not above a thousand dollars")
    func range() {
        for price in ModelPrices.packaged.all {
            let lists = [price.standard] + price.services.values
            let rates =
                lists.flatMap { [$0.rates] + $0.longContext.map(\.rates) } + (price.offPeak.map { [$0.rates] } ?? [])
            for rates in rates {
                let kinds = [
                    rates.input, rates.output, rates.cacheRead, rates.cacheWrite5m, rates.cacheWrite1h,
                ].compactMap(\.self)
                #expect(kinds.allSatisfy { $0.isFinite && $0 >= 0 && $0 < 1_000 }, "\(price.name)")
                #expect(rates.input > 0, "\(price.name)")
                #expect(rates.cacheRead ?? 0 <= rates.input, "\(price.name)")
            }
            #expect(price.fast ?? 1 >= 1 && price.webSearch ?? 0 < 1, "\(price.name)")
            #expect(price.provider != nil, "\(price.name)")
        }
    }

    @Test("a name of any length is looked up within a bound")
    func longNames() {
        let name = String(repeating: "openrouter/", count: 100_000) + "gpt-5"
        #expect(ModelPrices.packaged.price(for: name) == nil)
    }

    @Test("the digest changes with a price and with nothing else")
    func digest() throws {
        let packaged = ModelPrices.packaged
        #expect(packaged.digest == packaged.replacing([:]).digest)
        let own = try ModelPricesDocument(Data(#"{"models": {"a": {"input": 1, "output": 2, "fast": 2}}}"#.utf8)).models
        let other = try ModelPricesDocument(
            Data(#"{"models": {"a": {"input": 1, "output": 2, "fast": 3}}}"#.utf8)
        ).models
        #expect(packaged.replacing(own).digest == packaged.replacing(own).digest)
        #expect(Set([packaged, packaged.replacing(own), packaged.replacing(other)].map(\.digest)).count == 3)
    }
}
