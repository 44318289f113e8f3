import ClockZones
import Foundation
import SnapshotModels
import StoreTestSupport
import Testing

@testable import UsageState

@Suite("The year of use in the store")
struct UsageYearTests {
    /// 2026-09-18T12:00:00Z, a Friday.
    private static let now = Date(timeIntervalSince1970: 1_789_732_800)
    private static let today = 20_714

    private func amount(_ year: UsageYear, _ day: Int) -> [Double] {
        [year[day].costUSD, Double(year[day].tokens)]
    }

    @Test(
        "a stored year is the computed one, and with the greatest amounts it has 6 KB",
        arguments: 1...50 as ClosedRange<UInt64>)
    func stored(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var days: [Int: (dollars: Double, tokens: Int)] = [:]
        for ago in -1..<372 where seed == 1 || Int.random(in: 0..<3, using: &random) > 0 {
            days[Self.today - ago] =
                seed == 1
                ? (.infinity, .max)
                : (.random(in: 0...400, using: &random), .random(in: 0...900_000_000, using: &random))
        }
        let year = UsageYear(days: days, at: Self.now)
        #expect(UsageYear(stored: year.data) == year)
        #expect(year.data.count <= 6_144, "\(year.data.count)")
        for (day, used) in days where seed > 1 {
            #expect(abs(year[day].costUSD - used.dollars) <= 0.005 + 1e-9)
            #expect(abs(year[day].tokens - used.tokens) <= 500 || year[day].tokens == 1_000)
        }
    }

    @Test("it begins and ends with a day of use, has 53 weeks at most and no future, and the smallest use is one")
    func bounds() {
        let year = UsageYear(
            days: [
                Self.today - 372: (1, 1), Self.today - 300: (0, 1), Self.today - 299: (0.004, 0),
                Self.today: (2.5, 1_499),
                Self.today + 1: (0, 0), Self.today + 2: (9, 9), .max: (9, 9), .min: (9, 9), 0: (.nan, -5),
            ], at: Self.now)
        #expect(year.days == Self.today - 300..<Self.today + 1)
        #expect(amount(year, Self.today - 300) == [0, 1_000] && amount(year, Self.today - 299) == [0, 0])
        #expect(amount(year, Self.today) == [2.5, 1_000] && amount(year, .max) == [0, 0])
        let empty = UsageYear(days: [Self.today - 1: (.nan, .min)], at: Self.now)
        #expect(empty.days.isEmpty && UsageYear(stored: empty.data) == empty)
        for seconds in [-Double.infinity, .infinity, -1e300] {
            #expect(UsageYear(days: [5: (1, 1)], at: Date(timeIntervalSince1970: seconds)).data.count < 200)
        }
    }

    @Test("it is JSON that a person can read")
    func text() {
        let year = UsageYear(days: [Self.today - 2: (1.2, 310_400), Self.today: (3.4, 820_000)], at: Self.now)
        #expect(
            String(decoding: year.data, as: UTF8.self)
                == #"{"at":1789732800,"cents":[120,0,340],"from":"2026-09-16","kilotokens":[310,0,820],"v":1}"#)
    }

    @Test(
        "what is damaged, too long or newer is no year",
        arguments: [
            "", "{}", "[]", #"{"v":2,"from":"2026-09-16","cents":[1],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":[1],"kilotokens":[1,2],"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":[-1],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":[10000000],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":[0.5],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"1969-12-31","cents":[1],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"today","cents":[1],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"2026-09-16T00:00:00Z","cents":[1],"kilotokens":[1],"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":\#(Array(repeating: 1, count: 401)),"kilotokens":\#(Array(repeating: 1, count: 401)),"at":1}"#,
            #"{"v":1,"from":"2026-09-16","cents":[1],"kilotokens":[1],"at":1\#(String(repeating: " ", count: 16_384))}"#,
            String(repeating: "[", count: 16_000),
        ])
    func damaged(text: String) {
        #expect(UsageYear(stored: Data(text.utf8)) == nil)
    }

    @Test("whatever stands in place of its numbers, nothing traps: not reading it, and not showing it")
    func hostile() throws {
        let year = UsageYear(days: [Self.today - 2: (1.2, 310_400), Self.today: (3.4, 820_000)], at: Self.now)
        let text = String(decoding: year.data, as: UTF8.self)
        let extremes = [
            "0", "1", "-1", "400", "9999999", "253402300799", "9223372036854775807", "-9223372036854775808",
            "9223372036854775808", "1e308", "-1e400", "0.1", "null", "\"\"", "[]", "9999", "99", "00",
        ]
        var count = 0
        for number in text.matches(of: /\d+/) {
            for extreme in extremes {
                let hostile = text.replacingCharacters(in: number.range, with: extreme)
                guard let year = UsageYear(stored: Data(hostile.utf8)) else { continue }
                for now in [Self.now, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 253_402_300_799)] {
                    var data = UsageData(link: .online, stored: .nothing)
                    data.year = year
                    let spending = Spending([], ViewModel(data: data, now: now, zone: .gmt))
                    #expect((spending?.days.count ?? 0) <= UsageYear.dayCount)
                    count += spending == nil ? 0 : 1
                }
                #expect(UsageYear(stored: year.data) == year, "\(hostile)")
            }
        }
        #expect(count > 0)
    }

    @Test("its key is read, and is taken neither for a snapshot nor for a device's")
    func key() throws {
        let key = UsageYear.storeKey
        #expect(key == "com.codexbar.usage.year" && UsageData.isKey(key) && !UsageData.isKey(key + ".x"))
        #expect(!key.hasPrefix(SyncedUsageSnapshot.storeKey) && !ForgottenDevice.isKey(key))
        let year = UsageYear(days: [Self.today: (3.4, 820_000)], at: Self.now)
        let data = UsageData(link: .online, values: [key: year.data], now: Self.now)
        #expect(data.stored == .nothing && data.year == year && data.devices(at: Self.now).isEmpty)
        #expect(data.redacted.year == year)
        #expect(UsageData(link: .online, values: [key: Data("{".utf8)], now: Self.now).year == nil)
    }
}
