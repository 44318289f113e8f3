@testable import clip
import Foundation
import Testing

@Suite("Secrets are not kept")
struct SecretRuleTests {
    private var filter = CopyFilter()

    private func decide(
        _ text: String, type: String = "text/plain", timer: MatchTimer = .frozen
    ) -> CopyFilter.Decision {
        filter.decide(Offer([(name: type, data: Data(text.utf8))]), timer: timer)
    }

    private func isKept(_ text: String) -> Bool {
        if case .keep = decide(text) { true } else { false }
    }

    /// Invented, and put together here so that no file contains anything of their forms.
    private static let secrets: [(String, String)] = {
        let body = { (count: Int) in String(repeating: "Ab3d", count: (count + 3) / 4) }
        return [
            ("AKI" + "A" + String(repeating: "AB3D", count: 4), "an AWS access key"),
            ("gh" + "p_" + body(36), "a GitHub token"),
            ("github_" + "pat_" + body(24), "a GitHub token"),
            ("glpa" + "t-" + body(20), "a GitLab token"),
            ("AIz" + "a" + body(36), "a Google API key"),
            ("xox" + "b-" + body(12), "a Slack token"),
            ("sk_" + "live_" + body(24), "a Stripe key"),
            ("sk-" + "ant-" + body(40), "an API key"),
            ("ey" + "J" + body(20) + "." + body(20) + "." + body(20), "a JSON web token"),
            ("otp" + "auth://totp/x?secret=" + body(16), "a one-time password secret"),
            ("-----BE" + "GIN OPENSSH PRIVATE KEY-----\nabc", "a private key"),
            ("-----BE" + "GIN PRIVATE KEY-----", "a private key"),
            ("-----BE" + "GIN PGP PRIVATE KEY BLOCK-----", "a private key"),
        ]
    }()

    @Test("secrets of known forms are ignored anywhere in a text", arguments: secrets)
    mutating func tokens(token: String, name: String) {
        for text in [token, "key=\(token)\n", "\"\(token)\"", String(repeating: "é ", count: 50_000) + token] {
            #expect(decide(text) == .skip(.token(name)))
        }
        #expect(decide("<a href='x'>\(token)</a>", type: "text/html") == .skip(.token(name)))
        #expect(decide("<b>\(token.prefix(6))</b>\(token.dropFirst(6))", type: "text/html") == .skip(.token(name)))
        #expect(SkipReason.token(name).isSecret)
        filter.skipsTokens = false
        #expect(isKept(token))
    }

    @Test("ordinary texts are kept")
    func ordinary() {
        for text in [
            "AKIA", "task-force", "eyJ.a.b", "desk-ant-farm", "de" + "sk-ant-" + String(repeating: "a", count: 30),
            "ghp_short", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "https://example.test/hf_x",
            "npm_config_cache", "sk-", String(repeating: "-", count: 100_000), "let key = AIza",
        ] {
            #expect(isKept(text), "\(text.prefix(40))")
        }
    }

    @Test("an invalid rule is skipped and reported, and the others work")
    mutating func invalidRules() {
        filter.rules = IgnoreRules(["[", "secret", "(", "^pin \\d+$"])
        #expect(filter.rules.invalid.map(\.index) == [0, 2])
        #expect(filter.rules.invalid.first?.error.pattern == "[")
        #expect(decide("a secret") == .skip(.rule(1, timedOut: false)))
        #expect(decide("pin 1234") == .skip(.rule(3, timedOut: false)))
        #expect(isKept("pin x"))
    }

    @Test("a rule that takes too long counts as a match")
    mutating func slowRule() {
        filter.rules = IgnoreRules(["nothing", "(a+)+$"])
        let text = String(repeating: "a", count: 40) + "b"
        let decision = decide(text, timer: .passing(.milliseconds(1)))
        #expect(decision == .skip(.rule(1, timedOut: true)))
        #expect(
            SkipReason.rule(1, timedOut: true).description
                == "ignore rule 2 took too long, which counts as a match")
    }

    @Test("a rule that runs out of memory counts as a match")
    mutating func exhaustedRule() {
        filter.rules = IgnoreRules(["^(?:a|b)*[cd]"])
        let text = String(repeating: "ab", count: 1_000_000)
        #expect(decide(text) == .skip(.rule(0, timedOut: true)))
    }

    @Test("without the library for them, rules count as matching, and those that are plain texts work")
    mutating func noLibrary() {
        filter.rules = IgnoreRules(["secret", "^pin"], library: nil)
        #expect(decide("a secret") == .skip(.rule(0, timedOut: false)))
        #expect(decide("harmless") == .skip(.rulesNotChecked))
        #expect(SkipReason.rulesNotChecked.isSecret)
        #expect(SkipReason.rulesNotChecked.description.contains("install \(ExpressionLibrary.packageName)"))
        filter.rules = IgnoreRules(["secret"], library: nil)
        #expect(isKept("harmless"))
    }

    @Test("rules see the text of HTML and RTF, and names of files")
    mutating func formattedText() {
        filter.rules = IgnoreRules(["my secret"])
        let match = CopyFilter.Decision.skip(.rule(0, timedOut: false))
        #expect(decide("<p>my <b>secret</b></p>", type: "text/html") == match)
        #expect(decide("{\\rtf1 my \\b secret}", type: "text/rtf") == match)
        #expect(decide("file:///my%20secret", type: "text/uri-list") == match)
    }

    @Test("there are not more rules than 64")
    func ruleLimit() {
        let rules = IgnoreRules(Array(repeating: "x", count: 70))
        #expect(rules.invalid.map(\.index) == Array(64..<70))
    }
}
