import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

func statusline(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: SampleHome.fixture("claude/statuslines/\(name).json")))
}

func statusline(session: String, _ windows: String) -> Data {
    Data("{\"session_id\":\"\(session)\",\"rate_limits\":{\(windows)}}".utf8)
}

func refusal(_ time: String, _ limits: String) -> String {
    "{\"type\":\"assistant\",\"timestamp\":\"\(time)\",\"isApiErrorMessage\":true,"
        + "\"apiErrorStatus\":429,\"error\":\"rate_limit\"\(limits),"
        + "\"message\":{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\","
        + "\"text\":\"You have hit your limit\"}]}}\n"
}

func quota(_ type: String, _ reset: String) -> String {
    ",\"quotaLimits\":{\"status\":\"rejected\",\"rateLimitType\":\"\(type)\"," + "\"resetsAt\":\(reset)}"
}

func claudeProvider(_ home: SampleHome, at now: Date = sampleNow) throws -> ProviderUsageSnapshot {
    var source = ClaudeSource()
    return try #require(source.read(in: home.environment(), at: now).provider)
}
