import Foundation
import TestSupport
import Testing

/// The built command in homes of its own.
@Suite("usage-push with plug-ins", .temporaryHome, .timeLimit(.minutes(5)))
struct PluginCommandTests {
    private let home = TemporaryHome.ofTest

    private static let script = """
        #!/bin/sh
        echo '{"provider":"zai","usage":{"primary":{"usedPercent":12,"windowMinutes":300}}}'
        """

    @Test("an enabled plug-in is pushed, listed and no longer run when it is disabled")
    func enabling() async throws {
        let path = try home.file(".config/ubiquity/providers.d/mine", Self.script)
        chmod(path, 0o644)
        chmod(home.path + "/.config/ubiquity/providers.d", 0o755)
        let refused = try await home.run("usage-push", ["config", "enable-plugin", "mine"])
        #expect(refused.status == 66)
        #expect(refused.errors.contains("it is not executable; run chmod u+x \(path)"))

        chmod(path, 0o755)
        let enabled = try await home.run("usage-push", ["config", "enable-plugin", "mine", "--timeout", "60"])
        #expect(enabled.status == 0)
        let shown = try await home.run("usage-push", ["config", "show", "--json"])
        #expect(shown.text.contains("\"timeout\" : 60") && shown.text.contains("\"mine\""))
        let printed = try await home.run("usage-push", ["--print"])
        #expect(printed.text.contains("\"providerName\":\"z.ai\""))
        let sources = try await home.run("usage-push", ["sources", "--provider", "plugins"])
        #expect(sources.text.contains("providers.d/mine") && sources.text.contains("zai 12 %"))

        #expect(try await home.run("usage-push", ["config", "disable-plugin", "mine"]).status == 0)
        #expect(try await home.run("usage-push", ["--print"]).status == 66)
        let again = try await home.run("usage-push", ["config", "disable-plugin", "mine"])
        #expect(again.status == 66)
        let invalid = try await home.run("usage-push", ["config", "enable-plugin", "../mine"])
        #expect(invalid.status == 64)
    }

    @Test("a program that is not enabled does not run")
    func disabled() async throws {
        let marker = home.path + "/ran"
        let path = try home.file(".config/ubiquity/providers.d/mine", "#!/bin/sh\ntouch '\(marker)'\n")
        chmod(path, 0o755)
        let sources = try await home.run("usage-push", ["sources"])
        #expect(sources.text.contains("usage-push config enable-plugin mine"))
        #expect(!FileManager.default.fileExists(atPath: marker))
    }
}
