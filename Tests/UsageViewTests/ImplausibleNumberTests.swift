import ClockZones
import Essentials
import Foundation
import SnapshotModels
import StoreTestSupport
import Testing

@testable import Commands
@testable import UsageState

@Suite("Numbers that cannot be")
struct ImplausibleNumberTests {
    private static let now = Date(timeIntervalSince1970: 1_789_732_800)
    private static let numbers = [
        "1e308", "-1e308", "1e300", "1e-320", "-0.0", "0", "42.5", "-3", "9223372036854775807", "-9223372036854775808",
        "4611686018427387904", "1e400", "null",
    ]

    /// A snapshot as another machine may have stored it.
    private static func snapshot(_ name: String, _ random: inout SeededGenerator) -> Data {
        var number: String { numbers.randomElement(using: &random) ?? "0" }
        func list(_ count: Int, _ element: () -> String) -> String {
            "[" + (0..<count).map { _ in element() }.joined(separator: ",") + "]"
        }
        let hour = Int(now.timeIntervalSince1970) / 3_600
        let providers = list(3) {
            let models = list(2) { #"{"label":"m","costUSD":\#(number)}"# }
            let day =
                #"{"dayKey":"2026-09-18","costUSD":\#(number),"totalTokens":\#(number),"modelBreakdowns":\#(models)}"#
            let hours =
                Bool.random(using: &random) ? #","hourly":[[\#(hour),9223372036854775807,9223372036854775807]]"# : ""
            return """
                {"providerID":"\(["a", "b"].randomElement(using: &random) ?? "a")","providerName":"n","isError":false,
                "lastUpdated":"2026-09-18T11:50:00Z",
                "rateWindows":[{"usedPercent":\(number),"windowMinutes":\(number),"resetsAt":"2026-09-19T11:50:00Z"}],
                "budget":{"usedAmount":\(number),"limitAmount":\(number),"currencyCode":"USD"},
                "credits":{"balance":\(number),"unlimited":false},
                "costSummary":{"sessionCostUSD":\(number),"sessionTokens":\(number),"last30DaysCostUSD":\(number),
                "last30DaysTokens":\(number),"unpricedRequests":\(number),"unpricedTokens":\(number),
                "daily":\(list(2) { day })\(hours)}}
                """
        }
        let json = """
            {"deviceName":"\(name)","deviceID":"\(name)","syncTimestamp":"2026-09-18T11:59:00Z","providers":\(providers)}
            """
        return Data(json.utf8)
    }

    @Test(
        "whatever numbers a machine has stored, every form of the usage can be written, and none says infinite",
        arguments: 1...300 as ClosedRange<UInt64>)
    func forms(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var values: [String: Data] = [:]
        for name in ["x", "y"] {
            values[SyncedUsageSnapshot.storeKey(deviceID: name)] = Self.snapshot(name, &random)
        }
        let model = ViewModel(data: UsageData(link: .online, values: values, now: Self.now), now: Self.now, zone: .gmt)
        try #require(!model.providers.isEmpty)
        let forms: [any Encodable] =
            [UsageReport(model, providers: model.providers), UsageAnswers(model, of: model.providers)]
            + model.providers.map { UsageCard($0) } + model.providers.map { UsageDetails($0, model) }
            + (Spending(model.providers, model).map { [$0] } ?? [])
        for form in forms {
            let text = String(decoding: try JSONOutput.encoded(form), as: UTF8.self)
            #expect(!text.contains(/\b(inf|nan|infinity)\b/.ignoresCase()), "\(text.prefix(2_000))")
            #expect(!text.contains(/-\d[\d.]*[kMG]? tokens/), "\(text.prefix(2_000))")
        }
    }
}
