import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Secrecy of sources")
struct SourceSecrecyTests {
    @Test("no reading contains any part of a token or key")
    func sampleHomes() throws {
        let homes = [
            "codex", "codex-apikey", "codex-business", "codex-compressed", "codex-weekly", "claude",
            "claude-stale", "claude-decoy",
        ]
        var secrets = ["SYNTHETIC-NOT-A"]
        let login = try Data(
            contentsOf: URL(fileURLWithPath: SampleHome.fixture("codex/.codex/auth.json")))
        let token = try #require(JSONFields(login)?.fields("tokens")?.text("id_token"))
        secrets += token.split(separator: ".").flatMap { part in
            stride(from: 0, to: part.count, by: 12).map { String(part.dropFirst($0).prefix(12)) }
        }
        secrets += ["acct-0000-sample", "user-0000-sample"]
        for name in homes {
            let home = try SampleHome(copying: name)
            var sources: [any UsageSource] = [CodexSource(), ClaudeSource()]
            for index in sources.indices {
                let reading = sources[index].read(in: home.environment(), at: sampleNow)
                var said = String(reflecting: reading)
                if let provider = reading.provider {
                    said += String(decoding: try JSONEncoder().encode(provider), as: UTF8.self)
                }
                for secret in secrets where secret.count > 3 {
                    #expect(!said.contains(secret), "\(name)")
                }
            }
        }
    }
}
