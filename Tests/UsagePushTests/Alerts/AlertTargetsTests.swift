import ClockZones
import Foundation
import LocalFiles
import TestSupport
import Testing
@testable import UsageState

@testable import usage_push

/// With real programs.
@Suite("Targets that are programs", .temporaryHome, .timeLimit(.minutes(1)))
struct AlertTargetsTests {
    private let home = TemporaryHome.ofTest
    private let zone = ClockZone.fixed(secondsFromGMT: 0)

    private func alert(_ name: String = "Claude", threshold: Double = 90) -> Alert {
        var alert = Alert(kind: .threshold, at: UsageScene.noon, mark: AlertMark(key: "k", instance: 1, level: 90))
        alert.subject = Alert.Subject(
            providerID: "claude", providerName: name, account: nil, window: "Weekly", windowMinutes: 10_080)
        alert.usedPercent = 91.4
        alert.threshold = threshold
        alert.resetsAt = UsageScene.noon + 7_200
        return alert
    }

    private func deliver(_ settings: AlertSettings, _ alerts: Alert...) async -> [String?] {
        let targets = AlertTargets(
            settings, AlertSecrets(),
            variables: ["PATH": "\(home.path)/bin:/usr/bin:/bin", "HOME": home.path, "TOKEN": "x"])
        var failures: [String?] = []
        for alert in alerts {
            let text = AlertText(alert, now: UsageScene.noon, zone: zone)
            failures += await targets.deliver(alert, text).map(\.failure)
        }
        return failures
    }

    @Test("a command gets its arguments and the alert as JSON, and few variables")
    func command() async throws {
        var settings = AlertSettings()
        settings.command = [
            try home.script("warn", #"cat >"$HOME/event"; echo "$@" >"$HOME/arguments"; env >"$HOME/env""#), "limits",
            "a b",
        ]
        #expect(await deliver(settings, alert()) == [nil])
        #expect(try home.text("arguments") == "limits a b\n")
        #expect(try !home.text("env").contains("TOKEN"))
        let event = try JSONSerialization.jsonObject(with: Data(home.text("event").utf8)) as? [String: Any]
        #expect(event?["title"] as? String == "Claude · Weekly: 91 % used")
        #expect(event?["message"] as? String == "resets in 2h (14:00)")
        #expect((event?["window"] as? [String: Any])?["usedPercent"] as? Double == 91.4)
        #expect(event?["at"] as? String == "2026-09-18T12:00:00Z")
    }

    @Test(
        "what a command does wrong is said",
        arguments: [
            ("exit 3", "warn ended with status 3"),
            ("echo 'no bus; token=abc123' >&2; exit 1", "status 1: no bus; token=[hidden]"),
            ("yes", "printed more than 64 KiB"),
        ])
    func failures(text: String, failure: String) async throws {
        var settings = AlertSettings()
        settings.command = [try home.script("warn", text)]
        #expect(await deliver(settings, alert())[0]?.contains(failure) == true)
    }

    @Test("a command that reads nothing is not waited for")
    func unread() async throws {
        var settings = AlertSettings()
        settings.command = [try home.script("warn", "exec <&-; exit 0")]
        #expect(await deliver(settings, alert()) == [nil])
    }

    @Test("notify-send gets urgency, icon and text; a second alert replaces the first")
    func desktop() async throws {
        var settings = AlertSettings()
        settings.desktop = true
        try home.script("notify-send", #"for a in "$@"; do echo "$a"; done >>"$HOME/shown"; echo 42"#)
        #expect(await deliver(settings, alert("<b>&\u{202E}"), alert()) == [nil, nil])
        #expect(
            try home.text("shown") == """
                --print-id
                --app-name=usage-push
                --urgency=critical
                --icon=dialog-error
                --
                <b>&\\u{202E} · Weekly: 91 % used
                resets in 2h (14:00)
                --print-id
                --replace-id=42
                --app-name=usage-push
                --urgency=critical
                --icon=dialog-error
                --
                Claude · Weekly: 91 % used
                resets in 2h (14:00)

                """)
    }

    @Test("a notify-send that knows no ids is used without them")
    func oldNotifySend() async throws {
        var settings = AlertSettings()
        settings.desktop = true
        try home.script("notify-send", #"[ "$1" = --print-id ] && exit 1; echo "$1" >"$HOME/shown""#)
        #expect(await deliver(settings, alert()) == [nil])
        #expect(try home.text("shown") == "--app-name=usage-push\n")
    }

    @Test("a summary has a line for each event, and programs get them all")
    func summary() async throws {
        var settings = AlertSettings()
        settings.command = [try home.script("warn", #"cat >"$HOME/event""#)]
        var summary = Alert(kind: .summary, at: UsageScene.noon, mark: AlertMark(key: "s", instance: 1))
        summary.events = [alert("Claude"), alert("Codex")]
        #expect(await deliver(settings, summary) == [nil])
        let event = try JSONSerialization.jsonObject(with: Data(home.text("event").utf8)) as? [String: Any]
        #expect(event?["title"] as? String == "2 alerts during quiet hours")
        #expect(event?["message"] as? String == "12:00  Claude · Weekly: 91 % used\n12:00  Codex · Weekly: 91 % used")
        #expect((event?["events"] as? [Any])?.count == 2)
    }

    @Test("a file of secrets that others can read is refused")
    func secretsFile() throws {
        let file = AlertSecretsFile(
            UserDirectories(environment: ["UBIQUITY_CONFIG_DIR": home.path, "HOME": home.path]))
        var secrets = AlertSecrets()
        secrets[.ntfyToken] = "tk_invented"
        try file.write(secrets)
        #expect(try FileStatus(path: file.path)?.permissions == 0o600)
        #expect(try file.read() == secrets)
        try LocalFile(file.path).setPermissions(0o640)
        let error = #expect(throws: FileError.self) { try file.read() }
        #expect(error?.description.contains("run chmod 600 \(file.path)") == true)
        #expect(error?.description.contains("tk_invented") == false)
    }

    @Test("secrets are hidden in what others say")
    func masking() {
        var secrets = AlertSecrets()
        secrets[.webhookURL] = "https://hooks.example.test/services/T0AB/xyz123"
        secrets[.webhookHeaders] = "X-Key: value-1\nX-Other: value-2"
        let said = "no route for /services/T0AB/xyz123 with value-2, xyz123"
        #expect(secrets.masked(said) == "no route for [hidden] with [hidden], [hidden]")
    }
}
