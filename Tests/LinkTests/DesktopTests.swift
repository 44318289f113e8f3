import Foundation
import TestSupport
import Testing

/// With the real tools of a desktop, in a private home.
@Suite(
    "Links on a desktop",
    .enabled(
        if: LinkHome.isOnThisMachine("xdg-open", "xdg-mime", "desktop-file-validate"),
        "xdg-utils and desktop-file-utils are not installed: scripts/bootstrap --tests"),
    .timeLimit(.minutes(5)))
struct DesktopTests {
    private static let entry = "com.airmail2hookmark.airmail-scheme.desktop"

    private func withHome(_ body: (LinkHome) async throws -> Void) async throws {
        try await LinkHome.with(openerStatus: nil, body)
    }

    private func handler(_ home: LinkHome) async throws -> String {
        try await home.home.shell("xdg-mime query default x-scheme-handler/airmail").text
            .trimmingCharacters(in: .newlines)
    }

    @Test("a valid entry is installed, and uninstalled without a trace")
    func installation() async throws {
        try await withHome { home in
            let install = try await home.run("install")
            #expect(install.status == 0 && install.errors.isEmpty, "\(install)")
            let path = "\(home.home.path)/.local/share/applications/\(Self.entry)"
            let check = try await home.home.shell("desktop-file-validate '\(path)'")
            #expect(check.status == 0 && check.text.isEmpty, "\(check)")
            #expect(try await handler(home) == Self.entry)
            #expect(try await home.run("install", "--print").output == Data(contentsOf: URL(filePath: path)))
            #expect(try await home.run("uninstall").status == 0)
            #expect(try await handler(home) == "")
            let rest = try home.files().filter { $0.value.contains(Self.entry) }
            #expect(rest.isEmpty, "\(rest)")
        }
    }

    @Test("another application is replaced only with consent, and restored")
    func formerApplication() async throws {
        try await withHome { home in
            try home.addApplication("airmail", scheme: "airmail")
            let refused = try await home.run("install")
            #expect(refused.status == 64 && refused.errors.contains("airmail.desktop"))
            #expect(try await handler(home) == "airmail.desktop")
            for _ in 1...2 { #expect(try await home.run("install", "--yes").status == 0) }
            #expect(try await handler(home) == Self.entry)
            #expect(try await home.run("uninstall").status == 0)
            #expect(try await handler(home) == "airmail.desktop")
        }
    }

    @Test("an application that was chosen since stays the default one")
    func laterApplication() async throws {
        try await withHome { home in
            try home.addApplication("airmail", scheme: "airmail")
            #expect(try await home.run("install", "--yes").status == 0)
            try home.home.file(
                ".config/mimeapps.list", "[Default Applications]\nx-scheme-handler/airmail=later.desktop\n")
            try home.home.file(".local/share/applications/later.desktop", "[Desktop Entry]\nExec=true\n")
            #expect(try await home.run("uninstall").status == 0)
            #expect(try await handler(home) == "later.desktop")
        }
    }

    @Test("on a terminal the installation asks")
    func question() async throws {
        try await withHome { home in
            try home.addApplication("airmail", scheme: "airmail")
            for (answer, expected) in [("n", "airmail.desktop"), ("y", Self.entry)] {
                let terminal = try PseudoTerminal()
                let program = try RunningProgram(home.home, "link", ["install"], terminal: terminal)
                await terminal.wait(toSee: "Replace it? [y/N]")
                terminal.type(answer + "\n")
                #expect(await program.status() == 0)
                terminal.closeBoth()
                #expect(try await handler(home) == expected)
            }
        }
    }

    @Test("a link from a note is opened by the application of the form, and a malformed one is not")
    func click() async throws {
        try await withHome { home in
            // Only with a display xdg-open looks for applications; none is contacted.
            var home = home
            home.home.variables["DISPLAY"] = ":99"
            for scheme in ["hook", "mid"] {
                try home.recorder("\(scheme)-app")
                try home.addApplication(scheme, scheme: scheme, exec: "\(home.home.path)/programs/\(scheme)-app %u")
            }
            #expect(try await home.run("install").status == 0)
            let click = "xdg-open '\(LinkHome.link)'"
            #expect(try await home.home.shell(click).status == 0)
            #expect(home.notes("hook-app") == ["hook://email/n1%40example.test"])
            #expect(try await home.run("set", "mid").status == 0)
            #expect(try await home.home.shell(click).status == 0)
            #expect(home.notes("mid-app") == ["mid:n1@example.test"])
            _ = try await home.home.shell("xdg-open 'airmail://message?messageid='")
            #expect(home.notes("mid-app").count == 1 && home.notes("hook-app").count == 1)
            #expect(try await home.run("log").text.contains("emptyMessageId"))
        }
    }

    @Test("what xdg-mime cannot use is reported")
    func unusablePath() async throws {
        try await withHome { home in
            try home.addApplication("airmail", scheme: "airmail")
            let program = try #require(TemporaryHome.program("link")).path
            let copy = try home.home.directory("a b") + "/link"
            try FileManager.default.copyItem(atPath: program, toPath: copy)
            let install = try await home.home.run(copy, ["install", "--yes"])
            #expect(install.status == 74 && install.errors.contains("path with spaces"))
            let path = "\(home.home.path)/.local/share/applications/\(Self.entry)"
            #expect(try await home.home.shell("desktop-file-validate '\(path)'").text.isEmpty)
        }
    }

    @Test("doctor says what can be opened, and what is wrong")
    func doctor() async throws {
        try await withHome { home in
            let bare = try await home.run("doctor")
            #expect(bare.status == 1 && bare.text.contains("opened by no application"))
            #expect(bare.text.contains("is Hookmark installed?"))
            try home.addApplication("mail", scheme: "mid")
            try home.addApplication("airmail", scheme: "airmail")
            _ = try await home.run("set", "mid")
            let other = try await home.run("doctor", "--json")
            let document = try JSONSerialization.jsonObject(with: other.output) as? [String: Any]
            #expect(other.status == 1 && document?["airmailHandler"] as? String == "airmail.desktop")
            #expect((document?["problems"] as? [String])?.count == 1)
            _ = try await home.run("install", "--yes")
            let whole = try await home.run("doctor")
            #expect(whole.status == 0 && whole.text.contains("*  3 mid      mail (mail.desktop)"))
            _ = try await home.run("command", "--", "no-such-program", "{id}")
            _ = try await home.run("set", "custom", "--device")
            let command = try await home.run("doctor")
            #expect(command.status == 1 && command.text.contains("no-such-program is not on this"))
        }
    }

    @Test("on a terminal the error shows the escaped link")
    func terminal() async throws {
        try await withHome { home in
            let terminal = try PseudoTerminal()
            let program = try RunningProgram(
                home.home, "link", ["open", "--", "airmail://m?\u{1B}]0;x\u{7}"], terminal: terminal
            )
            let shown = await terminal.wait(toSee: #"\u{7}"#)
            #expect(shown.contains("no parameter 'messageid'") && shown.contains("received: "))
            #expect(!shown.contains("\u{1B}") && !shown.contains("\u{7}"))
            #expect(await program.status() == 65)
            terminal.closeBoth()
            #expect(try await home.run("log").text.isEmpty)
        }
    }
}
