import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

@Suite("Configuration of the pusher")
struct PusherConfigurationTests {
    private let home: SampleHome
    private var file: PusherConfigurationFile {
        PusherConfigurationFile(UserDirectories(environment: ["HOME": "/home/u", "UBIQUITY_CONFIG_DIR": home.path]))
    }

    init() throws { home = try SampleHome() }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file.path)) }

    @Test("without a file there are no further homes")
    func missing() throws {
        let (configuration, issues) = try file.read()
        #expect(configuration.homes.isEmpty && issues.isEmpty)
        #expect(configuration.additionalHomes(for: "claude") == [])
    }

    @Test("homes are stored privately, and unknown members stay")
    func writing() throws {
        try write(#"{"later": [1], "homes": {"codex": ["/c"]}}"#)
        var configuration = try file.read().configuration
        let changes = [
            configuration.add(ToolHome(providerID: "claude", path: "/a/b")),
            configuration.add(ToolHome(providerID: "claude", path: "/a/b")),
            configuration.remove(ToolHome(providerID: "codex", path: "/c")),
            configuration.remove(ToolHome(providerID: "codex", path: "/c")),
        ]
        #expect(changes == [true, false, true, false])
        try file.write(configuration)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(text.contains("\"later\"") && text.contains("\"/a/b\""))
        #expect(try file.read().configuration.homes == ["claude": ["/a/b"]])
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test("what is no absolute path is left out and described")
    func lenient() throws {
        try write(#"{"homes": {"claude": ["~/.claude-work/", "relative", 3, "/x"], "codex": "/c"}}"#)
        let (configuration, issues) = try file.read()
        #expect(configuration.homes == ["claude": ["/home/u/.claude-work", "/x"]])
        #expect(
            issues == [
                "\(file.path): homes.claude contains a value that is not an absolute path",
                "\(file.path): homes.claude contains a value that is not an absolute path",
                "\(file.path): homes.codex is not a list",
            ])
    }

    @Test("plug-ins are stored, and those that cannot be used are left out and described")
    func plugins() throws {
        try write(
            #"""
            {"plugins": {"a": {"owner": 0, "permissions": 493}, "b": {"owner": -1, "permissions": 0},
             "c": 7, "d": {"owner": 0, "permissions": 493, "timeout": 1e9}, "../e": {}}}
            """#)
        var (configuration, issues) = try file.read()
        #expect(configuration.plugins.keys.sorted() == ["a"])
        #expect(configuration.plugins["a"]?.timeout == 10)
        #expect(issues.count == 4)
        let plugin = try #require(EnabledPlugin(owner: 1, permissions: 0o700, timeout: 20, interval: 600))
        let changes = [
            configuration.setPlugin("f", plugin), configuration.setPlugin("f", plugin),
            configuration.setPlugin("a", nil),
        ]
        #expect(changes == [true, false, true])
        try file.write(configuration)
        #expect(try file.read().configuration.plugins == ["f": plugin])
    }

    @Test("a file that is not JSON is an error and is not replaced")
    func invalid() throws {
        try write("{\n  homes\n}")
        let error = try #require(throws: FileError.self) { try file.read() }
        #expect(
            error.description
                == "cannot read \(file.path): line 2, column 3: a name in quotes is expected;"
                + " fix it, or remove it to start over")
        #expect(throws: error) { try file.write(PusherConfiguration()) }
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "{\n  homes\n}")
    }
}
