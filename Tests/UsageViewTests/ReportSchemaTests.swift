import Commands
import Foundation
import SnapshotModels
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("The schema of the JSON documents")
struct ReportSchemaTests {
    private let usage = InventedUsage()

    private func schema() throws -> JSONSchema { try JSONSchema(Repository.data("docs/usage-report.schema.json")) }

    private func problems(_ document: some Encodable, as definition: String) throws -> [String] {
        let data = try JSONOutput.data(document)
        return try schema().problems(of: data) + schema().problems(of: data, as: definition)
    }

    private func models() throws -> [ViewModel] {
        [
            try Sample.model("busy-box", "busy-laptop"), try Sample.model("hostile-text"),
            try Sample.model("v0-first", minutesLater: 600),
            try Sample.model("v0-doc-nulls", link: .offline(lastSeen: Sample.now)),
            try Sample.model("v1-march-2026", minutesLater: -90), Sample.model(stored: .nothing, link: .notJoined),
            Sample.model(stored: .unreadable(reason: "x"), link: .offline(lastSeen: nil)), usage.model(usage.several),
            usage.model(usage.data(usage.account("x", [usage.window(1, resetsIn: nil)]))),
        ]
    }

    @Test("every report of the samples is valid, and lists nothing that is not in the schema")
    func reports() throws {
        for model in try models() {
            #expect(try problems(UsageReport(model), as: "usageReport") == [])
            let line = UsageLine(model)
            #expect(try problems(StatusReport(line, text: "x", now: model.now), as: "statusReport") == [])
            #expect(try problems(MachinesReport(model), as: "machinesReport") == [])
            #expect(try problems(WaitReport(isReset: true, limits: UsageReport(model)), as: "waitReport") == [])
            for selection in [UsageSelection(), UsageSelection(providers: ["nope"])] {
                let gate = UsageGate(model, selection: selection, maxPercent: 90)
                #expect(try problems(CheckReport(gate, now: model.now), as: "checkReport") == [])
            }
        }
    }

    @Test("what the schema says about amounts is what is reported")
    func amounts() throws {
        var account = usage.account("codex", [usage.window(1)])
        account.credits = SyncCredits(balance: 3.5, unlimited: false)
        account.budget = SyncBudget(
            usedAmount: 1, limitAmount: 2.5, currencyCode: "EUR", period: "month", resetsAt: usage.now)
        account.costSummary = SyncCostSummary(
            hourly: [SyncHourlyCost(hour: Int(usage.now.timeIntervalSince1970) / 3_600, totalTokens: 5, costUSD: 1)])
        let model = usage.model(usage.data(account))
        let report = UsageReport(model)
        #expect(report.providers[0].cost != nil && report.providers[0].budget != nil)
        #expect(try problems(report, as: "usageReport") == [])
    }

    @Test("paused agents are in the report with the name of their machine, and without real names in a redacted one")
    func pausedAgents() throws {
        let model = usage.model(usage.several)
        let device = try #require(model.devices.first { $0.id != nil })
        var data = model.data
        data.waits[try #require(device.id).lowercased()] = GateWaits([
            .init(
                tool: "codex", limit: "Codex Weekly", account: "dev@example.org", since: usage.now,
                until: usage.now + 60)
        ])
        let report = UsageReport(usage.model(data))
        #expect(report.pausedAgents?.map(\.device) == [device.name] && report.answer.contains("1 agent waits"))
        #expect(try problems(report, as: "usageReport") == [])
        let redacted = UsageReport(usage.model(data.redacted))
        let agent = try #require(redacted.pausedAgents?.first)
        #expect(agent.limit == "Codex Weekly" && agent.account?.hasSuffix("@example.test") == true)
        #expect(agent.device != device.name && redacted.answer.contains("1 agent waits"))
    }

    @Test("a document that breaks the schema is reported")
    func broken() throws {
        func problems(_ change: (inout [String: Any]) -> Void) throws -> [String] {
            let data = try JSONOutput.data(UsageReport(usage.model(usage.several)))
            var document = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            change(&document)
            return try schema().problems(of: JSONSerialization.data(withJSONObject: document), as: "usageReport")
        }
        #expect(try problems { _ in } == [])
        #expect(try problems { $0["schemaVersion"] = 2 } == ["$.schemaVersion: 2 is not 1"])
        #expect(try problems { $0["situation"] = "fine" } == ["$.situation: fine is not listed"])
        #expect(try problems { $0["devices"] = nil } == ["$: devices is missing"])
        #expect(try problems { $0["new"] = 1 } == ["$: new is not in the schema"])
        #expect(try problems { $0["generatedAt"] = "today" } == ["$.generatedAt: today is no date-time"])
        #expect(try problems { $0["providers"] = 1 } == ["$.providers: 1 is no array"])
    }
}
