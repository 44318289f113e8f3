import Foundation
import TestSupport
import Testing

/// `usage-push alerts` with the real program.
@Suite("usage-push alerts", .temporaryHome, .timeLimit(.minutes(2)))
struct AlertsCommandTests {
    private let home = TemporaryHome.ofTest

    private func alerts(_ arguments: String..., input: String = "") async throws -> TemporaryHome.Outcome {
        try await home.run("usage-push", ["alerts"] + arguments, input: Data(input.utf8))
    }

    private var configurationPath: String { home.path + "/.config/ubiquity" }

    @Test("lists targets, rules and what to do without any")
    func listing() async throws {
        let empty = try await alerts()
        #expect(empty.status == 0)
        #expect(empty.text.contains("none; run usage-push alerts enable desktop"))
        #expect(empty.text.contains("no alerts yet"))
        #expect(try await alerts("enable", "desktop").status == 0)
        #expect(
            try await alerts(
                "set", "--thresholds", "95,80", "--quiet-hours", "22:00-7:30", "--also", "stale"
            ).status == 0)
        #expect(try await alerts("set", "--for", "claude/weekly", "--thresholds", "60").status == 0)
        let listing = try await alerts().text
        #expect(listing.contains("target         desktop\n"))
        #expect(listing.contains("thresholds     80 %, 95 %\n"))
        #expect(listing.contains("claude/weekly  60 %\n"))
        #expect(listing.contains("also by        stale\n"))
        #expect(listing.contains("quiet hours    22:00-07:30\n"))
        let json = try JSONSerialization.jsonObject(with: try await alerts("--json").output)
        #expect((json as? [String: Any])?["quiet"] as? String == "22:00-07:30")
        #expect(try await alerts("disable", "desktop").status == 0)
        #expect(try await alerts("disable", "desktop").status == 66)
    }

    @Test("settings, homes and secrets that are changed at the same time are all kept")
    func simultaneous() async throws {
        let providers = ["amp", "claude", "cline", "codex", "cursor", "gemini", "goose", "*"]
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 1...8 {
                let directory = try home.directory("tool-\(number)")
                group.addTask {
                    try await alerts("set", "--for", providers[number - 1] + "/weekly", "--thresholds", "60").status
                }
                group.addTask { try await home.run("usage-push", ["config", "add-home", "codex", directory]).status }
            }
            group.addTask { try await alerts("secret", "ntfy-topic", input: "topic").status }
            group.addTask { try await alerts("secret", "ntfy-token", input: "tk_token").status }
            for try await status in group { #expect(status == 0) }
        }
        let listing = try await alerts().text
        let homes = try await home.run("usage-push", ["config", "show"]).text
        for number in 1...8 {
            #expect(listing.contains(providers[number - 1] + "/weekly "))
            #expect(homes.contains("/tool-\(number)\n"))
        }
        let secrets = try String(contentsOfFile: configurationPath + "/alert-secrets.json", encoding: .utf8)
        #expect(secrets.contains(#""ntfy-topic" : "topic""#))
        #expect(secrets.contains(#""ntfy-token" : "tk_token""#))
    }

    @Test(
        "what is not understood is refused with what would be",
        arguments: [
            ["set", "--thresholds", "0"], ["set", "--thresholds", "50,x"], ["set", "--quiet-hours", "22"],
            ["set", "--also", "all"], ["set", "--reset-from", "0"], ["set", "--for", "claude"], ["enable", "pager"],
            ["enable", "command"], ["set", "--private-host", "https://a.example.test"],
            ["set", "--private-host", "a b"], ["set", "--for", "claud", "--thresholds", "60"],
            ["set", "--for", "claude/fortnightly", "--thresholds", "60"],
            ["set", "--for", "*/claude", "--thresholds", "60"],
            ["enable", "desktop", "--server", "https://a.example.test"],
            ["enable", "ntfy", "--server", "a.example.test"], ["secret", "password"],
        ])
    func usage(arguments: [String]) async throws {
        let outcome = try await home.run("usage-push", ["alerts"] + arguments, input: Data())
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: configurationPath + "/usage-push.json"))
    }

    @Test("a program that others can write or replace is neither enabled nor run, with what to do")
    func writablePrograms() async throws {
        let warn = try home.script("warn", "touch \"$HOME/ran\"")
        let directory = home.path + "/bin"
        let enabled = try await alerts("enable", "command", warn)
        #expect(enabled.status == 0, "\(enabled.errors)")
        for (path, mode) in [(warn, 0o757), (warn, 0o775), (directory, 0o777), (home.path, 0o777)] {
            let former = try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
            chmod(path, mode_t(mode))
            for arguments in [["test"], ["enable", "command", warn]] {
                let refused = try await home.run("usage-push", ["alerts"] + arguments)
                #expect(refused.status == (arguments == ["test"] ? 69 : 77))
                #expect(
                    (refused.text + refused.errors).contains("others may write to \(path); run chmod go-w \(path)"),
                    "\(refused)")
            }
            chmod(path, mode_t(former))
        }
        #expect(!FileManager.default.fileExists(atPath: home.path + "/ran"))
        #expect(try await alerts("test").status == 0)
    }

    @Test("no error shows the password of an address")
    func passwords() async throws {
        let address = "https://user:pass" + "w0rd@host.example.test/"
        for arguments in [
            ["enable", "ntfy", "--server", address], ["enable", "ntfy", "--click", address],
            ["set", "--private-host", address], ["enable", "command", address],
            ["set", "--for", address, "--thresholds", "60"], ["set", "--quiet-hours", address],
        ] {
            let refused = try await home.run("usage-push", ["alerts"] + arguments)
            #expect(refused.status != 0)
            #expect(!(refused.text + refused.errors).contains("w0rd"), "\(refused.errors)")
        }
    }

    @Test("options stand before and behind a target; what follows a command is the command's")
    func optionsAnywhere() async throws {
        #expect(try await alerts("secret", "ntfy-topic", input: "topic").status == 0)
        let options = ["--server", "https://ntfy.example.test", "--click", "https://a.example.test/"]
        for arguments in [["ntfy"] + options, options + ["ntfy"], options[..<2] + ["ntfy"] + options[2...]] {
            let outcome = try await home.run("usage-push", ["alerts", "enable"] + arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            let json = try await alerts("--json").text
            #expect(json.contains("https://ntfy.example.test"), "\(json)")
        }
        let warn = try home.script("warn", "exit 0")
        let own = ["--server", "x", "--quiet", "--help", "-v", "--", "y"]
        for separator in [[], ["--"]] {
            let outcome = try await home.run("usage-push", ["alerts", "enable", "command"] + separator + [warn] + own)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let text = try String(contentsOfFile: configurationPath + "/usage-push.json", encoding: .utf8)
            let settings = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let alerts = try #require(settings["alerts"] as? [String: Any])
            #expect(alerts["command"] as? [String] == [warn] + own, "\(separator)")
        }
        let help = try await alerts("enable", "command", "--help")
        #expect(help.status == 0 && help.text.contains("USAGE: usage-push alerts enable"))
    }

    @Test("the configuration is shown without a subcommand")
    func configuration() async throws {
        let shown = try await home.run("usage-push", ["config"])
        #expect(shown.status == 0 && shown.text.contains("usage-push config add-home"))
        let json = try await home.run("usage-push", ["config", "--json"])
        #expect(json.text.contains(#""homes""#), "\(json)")
    }

    @Test("other settings of the pusher stay")
    func otherSettings() async throws {
        try home.file(".config/ubiquity/usage-push.json", #"{"homes": {}, "mine": [1]}"#)
        #expect(try await alerts("enable", "desktop").status == 0)
        let text = try String(contentsOfFile: configurationPath + "/usage-push.json", encoding: .utf8)
        #expect(text.contains("mine"))
        #expect(try await home.run("usage-push", ["config", "show"]).status == 0)
        #expect(try await alerts("disable", "desktop").status == 0)
        let after = try String(contentsOfFile: configurationPath + "/usage-push.json", encoding: .utf8)
        #expect(after.contains("mine") && !after.contains("alerts"))
    }

    @Test("secrets are read from standard input and shown nowhere")
    func secrets() async throws {
        let missing = try await alerts("enable", "webhook")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("run usage-push alerts secret webhook-url"))
        let secret = "https://hooks.invalid/services/s3cret"
        #expect(try await alerts("secret", "webhook-url", input: secret + "\n").status == 0)
        #expect(try await alerts("secret", "ntfy-topic", input: "s3cret-topic").status == 0)
        #expect(try await alerts("enable", "webhook").status == 0)
        for arguments in [[], ["--json"]] {
            let outcome = try await home.run("usage-push", ["alerts"] + arguments)
            #expect(outcome.text.contains("webhook-url"))
            #expect(!(outcome.text + outcome.errors).contains("s3cret"))
        }
        let configuration = try String(contentsOfFile: configurationPath + "/usage-push.json", encoding: .utf8)
        #expect(!configuration.contains("s3cret"))
        let file = configurationPath + "/alert-secrets.json"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let invalid = try await alerts("secret", "webhook-url", input: "s3cret s3cret")
        #expect(invalid.status == 65 && !invalid.errors.contains("s3cret"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let open = try await alerts("test")
        #expect(open.status == 78 && open.errors.contains("run chmod 600 \(file)"))
    }

    @Test("a test says for each target what happened")
    func test() async throws {
        #expect(try await alerts("test").status == 66)
        let warn = try home.script("warn", #"cat >"$HOME/event""#)
        #expect(try await alerts("enable", "command", warn, "--level", "x").status == 0)
        let good = try await alerts("test")
        #expect(good.status == 0 && good.text == "command  sent\n", "\(good)")
        #expect(try home.text("event").contains(#""kind":"test""#))
        try home.script("warn", "exit 9")
        let bad = try await alerts("test")
        #expect(bad.status == 69 && bad.text == "command  failed: \(warn) ended with status 9\n")
    }

    @Test("a running pusher warns of what changes, once, also over a restart")
    func watching() async throws {
        func document(_ percent: Int) throws {
            let path = try home.file(
                ".config/ubiquity/providers.d/new.tmp",
                """
                {"providerID": "mytool", "providerName": "My Tool",
                 "rateWindows": [{"usedPercent": \(percent), "label": "Plan"}]}
                """)
            let target = (path as NSString).deletingLastPathComponent + "/mytool.json"
            #expect(rename(path, target) == 0)
        }
        let warn = try home.script("warn", #"cat >>"$HOME/events""#)
        try document(40)
        #expect(try await home.run("usage-push", []).status == 0)
        for (percent, expected) in [(80, "80 % used"), (95, "95 % used")] {
            let program = try RunningProgram(home, "usage-push", ["--watch"])
            var lines = program.errors.makeAsyncIterator()
            func wait(for text: String) async throws {
                while let line = await lines.next() {
                    if line.contains(text) { return }
                }
                Issue.record("the program ended before it said '\(text)'")
            }
            if percent == 80 {
                // While it runs.
                #expect(try await alerts("enable", "command", warn).status == 0)
            }
            try await wait(for: "alerts go to command")
            try document(percent)
            try await wait(for: "alert: My Tool · Plan: " + expected)
            program.interrupt()
            #expect(await program.status() == 0)
        }
        let events = try home.text("events")
        #expect(events.split(separator: "\n").count == 2, "\(events)")
        let listing = try await alerts().text
        #expect(listing.contains("My Tool · Plan: 95 % used"), "\(listing)")
    }
}
