import Testing

@testable import Commands

@Suite("Service unit")
struct ServiceUnitTests {
    private func lines(_ unit: ServiceUnit, _ prefix: String) -> [Substring] {
        unit.systemdText.split(separator: "\n").filter { $0.hasPrefix(prefix) }
    }

    private func unit(_ executable: String, _ variables: [String: String]) -> ServiceUnit {
        ServiceUnit(
            program: "usage-push", description: "Pusher", executable: executable,
            arguments: ["--watch", "--quiet"], variables: variables, names: ["CODEX_HOME"])
    }

    @Test("only variables that decide where files are get into the unit")
    func variables() {
        let unit = unit(
            "/usr/bin/usage-push",
            [
                "CODEX_HOME": "/c", "XDG_STATE_HOME": "/s", "ANTHROPIC_API_KEY": "secret",
                "XDG_SESSION_ID": "1", "XDG_DATA_HOME": "/a\nExecStart=/bin/false",
            ])
        #expect(
            lines(unit, "Environment=") == [
                "Environment=CODEX_HOME=/c", "Environment=XDG_STATE_HOME=/s",
                // What Dispatch says of priorities that no user may raise is not for the journal.
                "Environment=LIBDISPATCH_LOG=NO",
            ])
        #expect(!unit.systemdText.contains("secret") && !unit.systemdText.contains("/bin/false"))
        #expect(lines(unit, "ExecStart=") == ["ExecStart=/usr/bin/usage-push --watch --quiet"])
    }

    @Test("paths are quoted as systemd reads them")
    func quoting() {
        let unit = unit("/opt/my \"tools\"/100%/$HOME/usage-push", ["CODEX_HOME": "/a b\\c"])
        #expect(
            lines(unit, "ExecStart=")
                == [#"ExecStart="/opt/my \"tools\"/100%%/$$HOME/usage-push" --watch --quiet"#])
        #expect(lines(unit, "Environment=").first == #"Environment="CODEX_HOME=/a b\\c""#)
    }
}
