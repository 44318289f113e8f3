import Foundation
import Testing

@testable import UsagePusher

/// A home with the shape of a public report of a wrong count, and the sums that are right. Its members are those of
/// `fixtures/cases/EXPECT.json`.
struct MiscountedHome: Decodable, CustomTestStringConvertible {
    let id: String
    /// Uncached input, output, cache writes and reads; the costs are US dollars at list price, in all and by day.
    let `in`: Int?
    let out: Int?
    let write: Int?
    let read: Int?
    let cost: Double?
    let days: [String: Double]?

    var testDescription: String { id }

    static let directory = SampleHome.fixture("../cases") + "/"

    static let all: [MiscountedHome] = {
        let file = URL(fileURLWithPath: directory + "EXPECT.json")
        return try! JSONDecoder().decode([Self].self, from: Data(contentsOf: file))
    }()
}

@Suite("Homes that other counters count wrong")
struct MiscountedHomeTests {
    @Test("each request counts once, at its price", arguments: MiscountedHome.all)
    func sums(_ home: MiscountedHome) throws {
        var environment = SourceEnvironment(home: MiscountedHome.directory + home.id + "/home")
        environment.monotonicSeconds = { 0 }
        let report = TokenReport(
            TokenLedger(in: environment).update(in: environment, prices: .packaged), by: .day, query: query())
        let counts = report.total.counts
        #expect(counts.input == home.in ?? counts.input)
        #expect(counts.output == home.out ?? counts.output)
        #expect(counts.cacheWrite == home.write ?? counts.cacheWrite)
        #expect(counts.cacheRead == home.read ?? counts.cacheRead)
        func isClose(_ cost: Double, _ expected: Double?) -> Bool {
            expected.map { abs($0 - cost) < 1e-9 } ?? true
        }
        #expect(isClose(report.total.cost.dollars(.calculate), home.cost))
        for row in report.rows {
            #expect(isClose(row.total.cost.dollars(.calculate), home.days?[row.period]))
        }
        #expect(Set(report.rows.map(\.period)).isSuperset(of: home.days?.keys.map(\.self) ?? []))
    }

    @Test("what a child or a fork copied is its parent's", arguments: ["a", "b", "d", "e"])
    func sessions(of copies: String) throws {
        let home = try #require(MiscountedHome.all.first { $0.id.hasPrefix("05\(copies)") })
        var environment = SourceEnvironment(home: MiscountedHome.directory + home.id + "/home")
        environment.monotonicSeconds = { 0 }
        let report = TokenReport(
            TokenLedger(in: environment).update(in: environment, prices: .packaged), by: .session, query: query())
        let own = ["051": 5_050, "052": 6_060, "050": 60_600]
        for row in report.rows {
            #expect(row.total.counts.total == own[String(row.period.suffix(3))])
        }
    }
}
