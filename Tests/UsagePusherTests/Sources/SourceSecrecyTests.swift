import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Secrecy of sources")
struct SourceSecrecyTests {
    @Test("no reading contains any part of a token or key", arguments: SourceHome.all)
    func sampleHomes(_ fixture: SourceHome) throws {
        var secrets = ["SYNTHETIC-NOT-A"]
        let login = try Data(contentsOf: URL(fileURLWithPath: SampleHome.fixture("codex/homes/usual/.codex/auth.json")))
        let token = try #require(JSONFields(login)?.fields("tokens")?.text("id_token"))
        secrets += token.split(separator: ".").flatMap { part in
            stride(from: 0, to: part.count, by: 12).map { String(part.dropFirst($0).prefix(12)) }
        }
        secrets += ["acct-0000-sample", "user-0000-sample"]
        let home = try SampleHome(copying: fixture.testDescription)
        var environment = home.environment()
        environment.explains = true
        for var source in UsageSources.all {
            let reading = source.read(in: environment, at: sampleNow)
            let said =
                String(reflecting: reading)
                + String(decoding: try JSONEncoder().encode(reading.providers), as: UTF8.self)
            for secret in secrets where secret.count > 3 { #expect(!said.contains(secret)) }
        }
    }
}
