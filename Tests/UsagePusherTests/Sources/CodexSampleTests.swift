import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Codex's sample homes")
struct CodexSampleTests {
    private func read(_ home: SampleHome, at now: Date = sampleNow) throws -> (SourceReading, ProviderUsageSnapshot) {
        var source = CodexSource()
        let reading = source.read(in: home.environment(), at: now)
        return (reading, try #require(reading.provider))
    }

    @Test("the reading that counts is found among forks, buckets and old files")
    func wholeHome() throws {
        let home = try SampleHome(copying: "codex/usual")
        let (reading, provider) = try read(home)
        #expect(provider.providerID == "codex")
        #expect(
            provider.primary
                == SyncRateWindow(usedPercent: 36, windowMinutes: 300, resetsAt: utc("2026-09-18T14:15:00Z")))
        #expect(
            provider.secondary
                == SyncRateWindow(usedPercent: 55, windowMinutes: 10_080, resetsAt: utc("2026-09-21T17:00:00Z")))
        #expect(provider.loginMethod == "Plus")
        #expect(provider.accountEmail == "dev@example.test")
        #expect(provider.lastUpdated == utc("2026-09-18T11:21:35Z"))
        #expect(provider.credits == nil)
        #expect(provider.budget == nil)
        #expect(provider.statusMessage == nil)
        #expect(!provider.isError)
        #expect(reading.isInstalled)
        #expect(!reading.isPartial)
        #expect(reading.findings.first?.certainty == .cachedExact)
        #expect(reading.findings.first?.observedAt == utc("2026-09-18T11:21:35Z"))
        #expect(!reading.findings.contains { $0.detail.contains("compressed") })
    }

    @Test("another bucket adds windows labelled with its name and replaces none")
    func otherBuckets() throws {
        let home = try SampleHome(copying: "codex/usual")
        let windows = try #require(try read(home).1.rateWindows)
        #expect(windows.map(\.usedPercent) == [36, 55, 4, 9])
        #expect(windows.map(\.label) == [nil, nil, "Spark session", "Spark weekly"])
    }

    @Test("the order of modification times does not change the result")
    func anyOrder() throws {
        let home = try SampleHome(copying: "codex/usual")
        let names = ["11-20-00", "11-48-00", "11-52-00"]
        let directory = ".codex/sessions/2026/09/18/"
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path(directory))
        for shift in 0..<3 {
            for (index, name) in names.enumerated() {
                let file = try #require(files.first { $0.contains(name) })
                let minutes = Double((index + shift) % 3)
                try home.touch(directory + file, sampleNow.addingTimeInterval(-60 * minutes))
            }
            let provider = try read(home).1
            #expect(provider.primary?.usedPercent == 36)
            #expect(provider.lastUpdated == utc("2026-09-18T11:21:35Z"))
        }
    }

    @Test("an API key login has a plan name and no numbers")
    func apiKey() throws {
        let (reading, provider) = try read(SampleHome(copying: "codex/apikey"))
        #expect(provider.loginMethod == "API key")
        #expect(provider.accountEmail == nil)
        #expect(provider.windows.isEmpty)
        #expect(provider.credits == nil)
        #expect(!provider.isError)
        #expect(reading.findings.allSatisfy { $0.certainty == nil })
    }

    @Test("a plan without windows shows credits and the spending limit without an error")
    func business() throws {
        let provider = try read(SampleHome(copying: "codex/business")).1
        #expect(provider.windows.isEmpty)
        #expect(provider.credits == SyncCredits(balance: 128.5))
        #expect(
            provider.budget
                == SyncBudget(
                    usedAmount: 462.04, limitAmount: 3_000, currencyCode: "credits",
                    resetsAt: Date(timeIntervalSince1970: 1_790_769_600)))
        #expect(provider.loginMethod == "Business")
        #expect(provider.lastUpdated == utc("2026-09-18T09:00:02Z"))
        #expect(!provider.isError)
        #expect(provider.statusMessage == nil)
    }

    @Test("a weekly window in the first slot is the weekly window")
    func weeklyOnly() throws {
        let provider = try read(SampleHome(copying: "codex/weekly")).1
        #expect(provider.primary == nil)
        #expect(provider.secondary?.usedPercent == 100)
        #expect(provider.rateWindows?.count == 1)
        #expect(provider.loginMethod == "Pro 20x")
        #expect(provider.statusMessage == "Your workspace credits are used up")
        #expect(!provider.isError)
    }

    @Test("seconds to the reset count from the line's timestamp")
    func octoberShape() throws {
        let home = try SampleHome(copying: "codex/usual")
        try FileManager.default.removeItem(atPath: home.path(".codex/sessions/2026"))
        try FileManager.default.removeItem(atPath: home.path(".codex/archived_sessions"))
        let provider = try read(home, at: utc("2025-10-03T07:00:00Z")).1
        #expect(
            provider.primary
                == SyncRateWindow(usedPercent: 12.5, windowMinutes: 300, resetsAt: utc("2025-10-03T08:30:05Z")))
        #expect(provider.secondary?.usedPercent == 40)
        #expect(provider.secondary?.windowMinutes == 10_080)
    }

    @Test("the oldest format, without resets, counts for the length of its window")
    func flatShape() throws {
        let home = try SampleHome(copying: "codex/usual")
        try FileManager.default.removeItem(atPath: home.path(".codex/sessions/2026"))
        try FileManager.default.removeItem(atPath: home.path(".codex/sessions/2025/10"))
        try FileManager.default.removeItem(atPath: home.path(".codex/archived_sessions"))
        let fresh = try read(home, at: utc("2025-09-13T11:00:00Z")).1
        #expect(fresh.windows.map(\.usedPercent) == [55, 12])
        #expect(fresh.windows.allSatisfy { $0.resetsAt == nil })
        let later = try read(home, at: utc("2025-09-13T16:00:00Z")).1
        #expect(later.windows.map(\.usedPercent) == [12])
        #expect(try read(home).1.windows.isEmpty)
    }

    @Test("without a directory Codex is not installed")
    func notInstalled() throws {
        var source = CodexSource()
        let reading = source.read(in: try SampleHome().environment(), at: sampleNow)
        #expect(!reading.isInstalled)
        #expect(reading.provider == nil)
        #expect(reading.findings.count == 1)
    }

    @Test("CODEX_HOME moves the directory")
    func codexHome() throws {
        let home = try SampleHome(copying: "codex/weekly")
        let elsewhere = try SampleHome()
        var source = CodexSource()
        let environment = elsewhere.environment(["CODEX_HOME": home.path + "/.codex/"])
        #expect(source.read(in: environment, at: sampleNow).provider?.secondary != nil)
        #expect(
            source.watchedPaths(in: environment)
                .contains(WatchedPath(home.path + "/.codex/sessions", isRecursive: true)))
    }
}
