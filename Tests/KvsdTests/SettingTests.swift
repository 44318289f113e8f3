import Foundation
import KVStoreServer
import StoreTestSupport
import TestSupport
import Testing

@testable import kvsd

@Suite("Settings", .timeLimit(.minutes(5)))
struct SettingTests {
    private func withHome(_ body: (TemporaryHome) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await body(home)
    }

    private struct Line: Decodable {
        var name: String
        var value: String
        var origin: String
    }

    private func lines(_ home: TemporaryHome, _ arguments: [String] = []) async throws -> [String: Line] {
        let outcome = try await home.run("kvsd", ["config", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let lines = try JSONDecoder().decode([Line].self, from: outcome.output)
        return Dictionary(uniqueKeysWithValues: lines.map { ($0.name, $0) })
    }

    @Test("each setting of a limit changes another one, and all are settings but those that nobody needs to change")
    func limits() throws {
        func members(_ limits: ServerLimits) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: Mirror(reflecting: limits).children.map {
                    ($0.label ?? "", "\($0.value)")
                })
        }
        let standard = members(ServerLimits())
        var changed: [String] = []
        for setting in Setting.all where setting.requirement.hasPrefix("from ") {
            let highest = try #require(setting.requirement.split(separator: " ").last)
            var settings = ServeSettings()
            #expect(setting.apply(String(highest), &settings))
            let differing = members(settings.limits).filter { standard[$0.key] != $0.value }
            #expect(differing.count == 1, "\(setting.name) changes \(differing)")
            changed += differing.keys
        }
        let fixed: Set = [
            "addressCount", "pairingByteCount", "changesPerRequest", "headerByteCount", "headerCount",
            "stopMilliseconds", "eventBatchByteCount",
        ]
        #expect(fixed.isSubset(of: standard.keys))
        #expect(Set(changed) == Set(standard.keys).subtracting(fixed) && changed.count == Set(changed).count)
    }

    @Test(
        "no password of a database is shown",
        arguments: [
            ("postgres://u:secret@h/d", "postgres://u:***@h/d"),
            ("postgres://u:sec/ret@h/d", "postgres://u:***@h/d"),
            ("postgres://u:sec?ret@h", "postgres://u:***@h"),
            ("postgres://u:sec@ret@h1,h2:1/d?options=a@b", "postgres://u:***@h1,h2:1/d?options=a@b"),
            ("postgres://h:1/d?password=secret&user=u", "postgres://h:1/d?password=***&user=u"),
            ("host=h password = 'se cret' user=u", "host=h password = *** user=u"),
            ("postgres://u@h:1/d", "postgres://u@h:1/d"), ("service=s", "service=s"),
        ])
    func passwords(address: String, shown: String) {
        #expect(address.withoutPassword == shown)
    }

    @Test("every default is a valid value of its setting", arguments: Setting.all.map(\.name))
    func defaults(name: String) throws {
        let setting = try #require(Setting.named(name))
        var settings = ServeSettings()
        #expect(setting.standard.isEmpty || setting.apply(setting.standard, &settings))
        #expect(setting.text(settings) == setting.standard)
    }

    @Test("options win over the environment, the environment over the file, the file over defaults")
    func order() async throws {
        try await withHome { home in
            var home = home
            let file = try home.file(
                ".config/ubiquity/kvsd.json",
                """
                {"listen": "10.0.0.1", "memory-limit": 70000, "connections": 7, "tls": true}
                """)
            home.variables["KVSD_MEMORY_LIMIT"] = "80000"
            home.variables["KVSD_CONNECTIONS"] = "8"
            let lines = try await lines(home, ["--connections", "9", "--set", "requests-per-second=10"])
            let expected = [
                ("listen", "10.0.0.1:8722", file), ("tls", "true", file),
                ("memory-limit", "80000", "KVSD_MEMORY_LIMIT"),
                ("connections", "9", "option"),
                ("requests-per-second", "10", "option"),
                ("request-burst", "40", "default"), ("json-depth", "32", "default"),
            ]
            for (name, value, origin) in expected {
                #expect(lines[name]?.value == value && lines[name]?.origin == origin, "\(name)")
            }
            #expect(lines.count == Setting.all.count)
        }
    }

    @Test("the data directory's config.json wins over that of the user, and --config over both")
    func files() async throws {
        try await withHome { home in
            try home.file(".config/ubiquity/kvsd.json", #"{"connections": 5}"#)
            let data = home.path + "/data"
            #expect(try await lines(home, ["--data", data])["connections"]?.value == "5")
            try home.file("data/config.json", #"{"connections": 6}"#)
            #expect(try await lines(home, ["--data", data])["connections"]?.value == "6")
            let file = try home.file("other.json", #"{"connections": 7}"#)
            let lines = try await lines(home, ["--data", data, "--config", file])
            #expect(lines["connections"]?.value == "7" && lines["connections"]?.origin == file)
        }
    }

    @Test(
        "unknown names and invalid values are errors that name place, setting and range",
        arguments: [
            (#"{"conections": 5}"#, [:], [], 78, ["c.json", "unknown setting 'conections'"]),
            (#"{"connections": 0}"#, [:], [], 78, ["c.json: connections", "from 1 to 1000000"]),
            (#"{"connections": "many"}"#, [:], [], 78, ["c.json: connections", "'many'"]),
            (#"{"connections": [5]}"#, [:], [], 78, ["c.json is not a JSON object"]),
            ("{", [:], [], 78, ["c.json is not a JSON object"]),
            ("{}", ["KVSD_CONECTIONS": "5"], [], 78, ["environment", "'KVSD_CONECTIONS'"]),
            ("{}", ["KVSD_LOG_LEVEL": "loud"], [], 78, ["KVSD_LOG_LEVEL must be trace, debug"]),
            ("{}", [:], ["--set", "connections"], 64, ["NAME=VALUE"]),
            ("{}", [:], ["--set", "conections=5"], 64, ["unknown setting 'conections'"]),
            ("{}", [:], ["--memory-limit", "1"], 64, ["memory-limit must be from 65536"]),
            (#"{"tls-key": "k.pem"}"#, [:], [], 78, ["tls-certificate"]),
            (#"{"listen": "127.0.0.1:99999"}"#, [:], [], 78, ["listen must be", "127.0.0.1:99999"]),
            ("{}", ["KVSD_LISTEN": "localhost:http"], [], 78, ["KVSD_LISTEN must be HOST or"]),
            ("{}", [:], ["--listen", "256.0.0.1"], 64, ["listen must be", "256.0.0.1"]),
        ] as [(String, [String: String], [String], Int32, [String])])
    func errors(
        file: String, variables: [String: String], options: [String], status: Int32, texts: [String]
    ) async throws {
        try await withHome { home in
            var home = home
            home.variables = variables
            let path = try home.file("c.json", file)
            for command in ["config", "serve"] {
                let outcome = try await home.run("kvsd", [command, "--config", path] + options)
                #expect(outcome.status == status)
                for text in texts { #expect(outcome.errors.contains(text), "\(outcome.errors)") }
            }
            // Nothing was created before the error.
            #expect(!FileManager.default.fileExists(atPath: home.path + "/.local"))
        }
    }

    @Test("the documentation lists every setting as it is")
    func documentation() throws {
        let text = try Repository.text("docs/operations.md")
        let rows = Setting.all.map { setting in
            "| `\(setting.name)` | \(setting.standard) | \(setting.requirement) | \(setting.help) |"
        }
        #expect(text.contains(rows.joined(separator: "\n")), "\(rows.joined(separator: "\n"))")
    }
}
