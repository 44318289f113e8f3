import Foundation
import Testing

@testable import UsagePusher

/// What a log says of the service that has answered a request, and what the request costs then.
private struct StatedService: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let provider: String
    let path: String
    let text: String
    let tokens: Int
    /// US dollars; nil for what is not priced.
    let dollars: Double?

    /// 1,000,000 tokens in, 100,000 out, for which Claude Opus 5 costs $7.50.
    static func claude(_ members: String, _ dollars: Double?) -> StatedService {
        StatedService(
            testDescription: "claude: \(members)", provider: "claude", path: ".claude/projects/p/s.jsonl",
            text: #"{"type":"assistant","timestamp":"2026-11-24T09:00:05Z","sessionId":"s","requestId":"r","#
                + #""message":{"id":"m","model":"claude-opus-5","usage":{"input_tokens":1000000,"#
                + #""output_tokens":100000\#(members.isEmpty ? "" : ",")\#(members)}}}"# + "\n",
            tokens: 1_100_000, dollars: dollars)
    }

    /// 1,000 tokens in, 1,000 out, for which GPT-6 Astra costs $0.06.
    ///
    /// - Parameters:
    ///   - settings: the tier as the thread's settings state it, in JSON; nil where they do not, and so on.
    ///   - record: nil without a record.
    static func codex(
        settings: String? = nil, turn: String? = nil, record: String?? = nil, count: String? = nil,
        info: String? = nil, _ dollars: Double?
    ) -> StatedService {
        func tier(_ name: String?) -> String { name.map { #","service_tier":\#($0)"# } ?? "" }
        func line(_ type: String, _ payload: String) -> String {
            #"{"timestamp":"2026-11-24T10:00:01Z","type":"\#(type)","payload":{\#(payload)}}"# + "\n"
        }
        let usage = #"{"input_tokens":1000,"output_tokens":1000}"#
        let text = [
            line("session_meta", #""id":"t1""#),
            settings.map {
                line("event_msg", #""type":"thread_settings_applied","thread_settings":{"service_tier":\#($0)}"#)
            },
            line("turn_context", #""turn_id":"u1","model":"gpt-6-astra"\#(tier(turn))"#),
            record.map {
                line(
                    "token_usage_record",
                    #""thread_id":"t1","turn_id":"u1","response_id":"r1","usage":\#(usage)\#(tier($0))"#)
            },
            line(
                "event_msg",
                #""type":"token_count","info":{"total_token_usage":\#(usage),"last_token_usage":\#(usage)"#
                    + tier(info) + "}" + tier(count)),
        ].compactMap(\.self).joined()
        let places = [
            "settings \(settings ?? "–")", "turn \(turn ?? "–")", "record \((record ?? nil) ?? "–")",
            "count \(count ?? "–")", "info \(info ?? "–")",
        ].filter { !$0.hasSuffix("–") }
        return StatedService(
            testDescription: "codex: " + places.joined(separator: ", "), provider: "codex",
            path: ".codex/sessions/2026/11/24/rollout-2026-11-24T10-00-00-t1.jsonl", text: text, tokens: 2_000,
            dollars: dollars)
    }

    static let all = [
        claude("", 7.5), claude(#""speed":"standard""#, 7.5), claude(#""speed":"fast""#, 15),
        claude(#""speed":"Fast""#, 15), claude(#""speed":"ultrafast""#, nil), claude(#""speed":"turbo""#, nil),
        claude(#""service_tier":null"#, 7.5), claude(#""service_tier":"""#, 7.5),
        claude(#""service_tier":"standard_only""#, 7.5), claude(#""service_tier":"batch""#, 3.75),
        claude(#""service_tier":"flex""#, nil), claude(#""service_tier":"priority""#, nil),
        claude(#""service_tier":"scale""#, nil), claude(#""service_tier":"scale","speed":"fast""#, nil),
        claude(#""speed":"fast","service_tier":"scale""#, nil),
        claude(#""inference_geo":"not_available""#, 7.5), claude(#""inference_geo":"global""#, 7.5),
        claude(#""inference_geo":"us""#, 8.25), claude(#""inference_geo":"US""#, 8.25),
        claude(#""inference_geo":"us","service_tier":"batch""#, 4.125),
        claude(#""inference_geo":"eu""#, nil), claude(#""inference_geo":"us-east","speed":"standard""#, nil),

        codex(0.06), codex(settings: "null", 0.06), codex(settings: #""default""#, 0.06),
        codex(settings: #""auto""#, 0.06), codex(settings: #""priority""#, 0.12), codex(settings: #""Priority""#, 0.12),
        codex(settings: #""fast""#, 0.12), codex(settings: #""flex""#, 0.03), codex(settings: #""batch""#, 0.03),
        codex(settings: #""ultrafast""#, 0.36), codex(settings: #""scale""#, nil),
        codex(settings: #""balanced""#, nil), codex(turn: #""priority""#, 0.12), codex(turn: #""scale""#, nil),
        // What stands on the line of the counts is nearer.
        codex(record: #""priority""#, 0.12), codex(count: #""priority""#, 0.12), codex(info: #""priority""#, 0.12),
        codex(record: #""scale""#, nil), codex(count: #""scale""#, nil),
        codex(settings: #""priority""#, record: #""default""#, 0.06),
        codex(settings: #""priority""#, count: #""default""#, 0.06),
        codex(settings: #""priority""#, record: "null", count: "null", 0.12),
        codex(settings: #""priority""#, record: .some(nil), 0.12),
        codex(turn: #""priority""#, record: #""flex""#, 0.03),
        codex(record: .some(nil), count: #""priority""#, 0.12),
    ]
}

@Suite("The service that a log states")
struct StatedServiceTests {
    @Test("a request costs what its service costs, and what nobody knows is not priced", arguments: StatedService.all)
    private func cost(_ stated: StatedService) throws {
        let home = try SampleHome()
        try home.write(stated.path, stated.text)
        let environment = home.environment()
        let usage = TokenLedger(of: [stated.provider], in: environment).update(in: environment, prices: .packaged)
        let amount = usage.buckets.reduce(into: UsageAmount()) { $0.add($1) }
        #expect(amount.requestCount == 1)
        #expect(amount.counts.total == stated.tokens)
        #expect(abs(amount.cost.dollars(.auto) - (stated.dollars ?? 0)) < 1e-9)
        #expect(amount.cost.unknownTokens == (stated.dollars == nil ? stated.tokens : 0))
        let gaps = UnpricedModels(usage, prices: .packaged).models.map(\.gaps)
        #expect(gaps == (stated.dollars == nil ? [.tier] : []))
    }
}
