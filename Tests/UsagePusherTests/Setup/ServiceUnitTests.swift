import Testing

@testable import UsagePusher

@Suite("Service unit")
struct ServiceUnitTests {
    private func lines(_ unit: ServiceUnit, _ prefix: String) -> [Substring] {
        unit.systemdText.split(separator: "\n").filter { $0.hasPrefix(prefix) }
    }

    @Test("only variables that decide where files are get into the unit")
    func variables() {
        let unit = ServiceUnit(
            executable: "/usr/bin/usage-push",
            variables: [
                "CODEX_HOME": "/c", "XDG_STATE_HOME": "/s", "ANTHROPIC_API_KEY": "secret",
                "XDG_SESSION_ID": "1", "XDG_DATA_HOME": "/a\nExecStart=/bin/false",
            ])
        #expect(
            lines(unit, "Environment=") == [
                "Environment=CODEX_HOME=/c", "Environment=XDG_STATE_HOME=/s",
            ])
        #expect(!unit.systemdText.contains("secret") && !unit.systemdText.contains("/bin/false"))
        #expect(lines(unit, "ExecStart=") == ["ExecStart=/usr/bin/usage-push --watch --quiet"])
    }

    @Test("paths are quoted as systemd reads them")
    func quoting() {
        let unit = ServiceUnit(
            executable: "/opt/my \"tools\"/100%/usage-push", variables: ["CODEX_HOME": "/a b\\c"])
        #expect(
            lines(unit, "ExecStart=")
                == [#"ExecStart="/opt/my \"tools\"/100%%/usage-push" --watch --quiet"#])
        #expect(lines(unit, "Environment=") == [#"Environment="CODEX_HOME=/a b\\c""#])
    }
}
