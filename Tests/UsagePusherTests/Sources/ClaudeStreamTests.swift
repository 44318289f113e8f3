import Foundation
import SnapshotModels
import StoreTestSupport
import Testing

@testable import UsagePusher

@Suite("Limits in Claude Code's stream")
struct ClaudeStreamTests {
    /// A stream, and the sessions of the events that are in it.
    private struct Planted {
        var bytes: [UInt8] = []
        var sessions: [String] = []
        private var randomness: SeededGenerator

        init(seed: UInt64) {
            randomness = SeededGenerator(seed: seed)
            for _ in 0..<40 { add(Int.random(in: 0..<10, using: &randomness)) }
        }

        private mutating func text() -> String {
            let pieces = [
                "a", "é", #"\""#, #"\\"#, "{", "}", "[", "]", ":", #"\n"#, "👋🏽", #"{\"type\":\"system\""#, " ",
            ]
            return (0..<Int.random(in: 0..<30, using: &randomness))
                .map { _ in pieces.randomElement(using: &randomness) ?? "" }.joined()
        }

        private mutating func event() -> String {
            sessions.append("s-\(sessions.count)")
            return #"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","note":"\#(text())","#
                + #""unifiedWindows":{"five_hour":{"utilization":0.5,"list":[[],{"a":"}"}]}}},"#
                + #""session_id":"\#(sessions.last ?? "")"}"#
        }

        private mutating func add(_ kind: Int) {
            let mark = #"{"type":"rate_limit_event""#
            switch kind {
            case 0, 1: bytes += Array((event() + "\n").utf8)
            case 2:
                // As the tool does at times: with the newline, in a string.
                bytes += Array(
                    (#"{"type":"assistant","text":"\#(text())"# + event() + "\n" + #"\#(text())"}"# + "\n").utf8)
            case 3:
                let quoted = event().replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                sessions.removeLast()
                bytes += Array((#"{"type":"user","text":"\#(quoted)"}"# + "\n").utf8)
            case 4:
                let torn = event().utf8.dropLast(Int.random(in: 1..<100, using: &randomness))
                sessions.removeLast()
                bytes += Array(torn)
                if Bool.random(using: &randomness) { bytes += [0x0A] } else { bytes += Array((event() + "\n").utf8) }
            case 5:
                let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
                bytes += Array((mark + #","session_id":"deep","a":"# + deep + "}\n").utf8)
            case 6:
                bytes += (0..<200).map { _ in UInt8.random(in: 0x80...0xFF, using: &randomness) }
            case 7 where Int.random(in: 0..<40, using: &randomness) == 0:
                bytes += Array((mark + #","session_id":"long","a":""#).utf8)
                bytes += [UInt8](repeating: UInt8(ascii: "a"), count: ClaudeStream.byteLimit)
                bytes += Array((#""}"# + "\n").utf8)
            default: bytes += Array((#"{"type":"assistant","text":"\#(text())"}"# + "\n").utf8)
            }
        }
    }

    @Test("of any stream, cut anywhere, exactly the events in it are found", arguments: 0..<60 as Range<UInt64>)
    func planted(seed: UInt64) {
        let planted = Planted(seed: seed)
        var randomness = SeededGenerator(seed: ~seed)
        var (stream, found) = (ClaudeStream(), [String]())
        let longest = [1, 7, 300, 65_536].randomElement(using: &randomness) ?? 1
        var rest = planted.bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...longest, using: &randomness))
            rest = rest.dropFirst(piece.count)
            let objects = piece.withUnsafeBytes { stream.objects(in: $0) }
            found += objects.compactMap { ClaudeStreamMessage($0) }.filter(\.isAboutLimits).compactMap(\.session)
        }
        #expect(found == planted.sessions, "seed \(seed)")
    }

    private func message(_ limits: String, session: String = "s-1") throws -> ClaudeStreamMessage {
        let text = #"{"type":"rate_limit_event","rate_limit_info":{\#(limits)},"uuid":"u","session_id":"\#(session)"}"#
        return try #require(ClaudeStreamMessage(Data(text.utf8)))
    }

    @Test("fractions become percentages, and a window with a name of no meaning is none")
    func windows() throws {
        let reset = 1_789_740_600
        let stated = try message(
            #""status":"allowed","resetsAt":\#(reset),"rateLimitType":"five_hour","unifiedWindows":{"#
                + #""five_hour":{"utilization":0.07,"resetsAt":\#(reset)},"seven_day":{"utilization":1},"#
                + #""seven_day_opus":{"utilization":1.25},"seven_day_overage_included":{"utilization":0.5},"#
                + #""tomorrow":{"utilization":0.5},"seven_day_sonnet":{"utilization":null}}"#)
        #expect(stated.windows.mapValues(\.usedPercent) == ["five_hour": 7, "seven_day": 100, "seven_day_opus": 125])
        #expect(stated.windows["five_hour"]?.resetsAt == Date(timeIntervalSince1970: Double(reset)))
        #expect(stated.rejection == nil && stated.session == "s-1")
        let single = try message(#""status":"allowed_warning","rateLimitType":"seven_day","utilization":0.8"#)
        #expect(single.windows.mapValues(\.usedPercent) == ["seven_day": 80])
        #expect(try message(#""status":"allowed","rateLimitType":"overage","utilization":0.8"#).windows.isEmpty)
        #expect(try message(#""status":"allowed","rateLimitType":"five_hour""#).windows.isEmpty)
        #expect(try message(#""status":7,"unifiedWindows":[]"#, session: "a;b").session == nil)
    }

    @Test("a limit because of which requests are refused is used up until its reset; a refused window alone is not one")
    func rejection() throws {
        let refused = try message(#""status":"rejected","rateLimitType":"seven_day","resetsAt":1789740600"#)
        #expect(refused.windows.mapValues(\.usedPercent) == ["seven_day": 100])
        #expect(refused.rejection?.limit == "weekly")
        #expect(refused.rejection?.resetsAt == Date(timeIntervalSince1970: 1_789_740_600))
        let window = try message(
            #""status":"allowed","unifiedWindows":{"five_hour":{"utilization":1,"status":"rejected"}}"#)
        #expect(window.rejection == nil)
    }

    @Test("what the stream states counts as what a status line states, and the newer of both wins")
    func reading() throws {
        let home = try SampleHome()
        let store = ClaudeStatuslineStore(home.environment())
        let reset = Int(sampleNow.timeIntervalSince1970) + 3_600
        try store.save(
            statusline: Data(
                #"{"session_id":"s-1","rate_limits":{"five_hour":{"used_percentage":20,"resets_at":\#(reset)}}}"#.utf8),
            at: sampleNow - 60)
        let event = try message(
            #""status":"allowed","unifiedWindows":{"five_hour":{"utilization":0.3,"resetsAt":\#(reset)}}"#)
        #expect(try store.save(event, at: sampleNow))
        #expect(try !store.save(event, at: sampleNow + 1), "it states the same")
        let card = try home.card(of: ClaudeSource())
        #expect(card.primary?.usedPercent == 30 && card.lastUpdated == sampleNow)
    }
}
