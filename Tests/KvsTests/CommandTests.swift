import Foundation
import KVStoreCore
import KVStoreWire
import TestSupport
import Testing

/// The built command, without a daemon.
@Suite("kvs on one machine", .timeLimit(.minutes(5)))
struct CommandTests {
    private func withHome(_ body: (TemporaryHome) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        try await body(home)
    }

    @Test("values of all types survive set, get, export and import")
    func allTypes() async throws {
        try await withHome { home in
            let bytes = Data((0...255).map { UInt8($0) })
            let file = home.path + "/bytes"
            try bytes.write(to: URL(filePath: file))
            for arguments in [
                ["set", "text", "a ü \u{1B}[31m"], ["set", "empty", ""],
                ["set", "int", "-5", "--int"], ["set", "double", "2.5", "--double"],
                ["set", "bool", "true", "--type", "bool"],
                ["set", "date", "2026-09-18T12:00:00.5Z", "--date"],
                ["set", "file", "--data-file", file], ["set", "b64", "AAE=", "--data"],
                ["set", "tree", #"{"a":[1,2.5,{"b":"c"}]}"#, "--json"],
            ] {
                let outcome = try await home.run("kvs", arguments)
                #expect(outcome.status == 0 && outcome.errors == "", "\(arguments)")
            }
            #expect(try await home.kvs("set", "piped", "--stdin", input: Data("x\n".utf8)).status == 0)
            #expect(try await home.kvs("get", "file").output == bytes)
            #expect(try await home.kvs("get", "--no-sync", "file").output == bytes, "as the parser reads it")
            #expect(try await home.kvs("get", "--help").text.contains("--version"), "as of all commands")
            #expect(try await home.kvs("get", "text", "--raw").text == "a ü \u{1B}[31m")
            #expect(try await home.kvs("get", "piped").text == "x\n")
            #expect(try await home.kvs("get", "empty").text == "")
            #expect(try await home.kvs("get", "int").text == "-5")
            #expect(
                try await home.kvs("get", "int", "--json").text
                    == "{\"bytes\":50,\"key\":\"int\",\"type\":\"integer\",\"value\":-5}\n")
            #expect(try await home.kvs("get", "date").text == "2026-09-18T12:00:00.500Z")
            #expect(try await home.kvs("ls").text == "b64\nbool\ndate\ndouble\nempty\nfile\nint\npiped\ntext\ntree\n")
            #expect(try await home.kvs("ls", "d").text == "date\ndouble\n")
            let list = try await home.kvs("ls", "--long", "b").text
            #expect(list.contains("b64") && list.contains("data"))
            // How long ago depends on the machine.
            #expect(list.contains(/just now| ago/), "\(list)")

            let exported = home.path + "/export.json"
            #expect(try await home.kvs("export", exported).status == 0)
            let mode = try FileManager.default.attributesOfItem(atPath: exported)
            #expect(mode[.posixPermissions] as? Int == 0o600)
            try await withHome { other in
                let dry = try await other.kvs("import", exported, "--dry-run")
                #expect(dry.text == "would set: 10 new, 0 changed, 0 unchanged\n")
                #expect(try await other.kvs("ls").text == "")
                let done = try await other.kvs("import", exported)
                #expect(done.status == 0 && done.text == "10 new, 0 changed, 0 unchanged\n")
                #expect(try await other.kvs("get", "file").output == bytes)
                let again = try await other.kvs("export")
                #expect(Self.values(again.output) == Self.values(try Data(contentsOf: URL(filePath: exported))))
                let repeated = try await other.kvs("import", "-", input: again.output)
                #expect(repeated.text == "0 new, 0 changed, 10 unchanged\n")
            }
        }
    }

    /// A document without the time at which it was written.
    private static func values(_ document: Data) -> Substring {
        let text = String(decoding: document, as: UTF8.self)
        return text.firstRange(of: "\"store\"").map { text[$0.lowerBound...] } ?? ""
    }

    @Test("removing deletes the key, a missing key ends with 1, and stores are separate")
    func removing() async throws {
        try await withHome { home in
            _ = try await home.kvs("set", "a", "1")
            _ = try await home.kvs("set", "b", "2", "--store", "other")
            let partly = try await home.kvs("rm", "a", "b")
            #expect(partly.status == 1)
            #expect(partly.errors == "kvs: no value for b in store default\n")
            #expect(try await home.kvs("ls").text == "")
            #expect(try await home.kvs("ls", "--store", "other").text == "b\n")
            let missing = try await home.kvs("get", "a\u{1B}[2J")
            #expect(missing.status == 1 && missing.output.isEmpty)
            #expect(missing.errors == "kvs: no value for key a\\u{1B}[2J in store default\n")
        }
    }

    @Test(
        "invalid input ends with 64 and a reason",
        arguments: [
            (["set", "", "x"], "empty key"), (["set", "k", "x", "--int"], "integer"),
            (["set", "k"], "--stdin"), (["set", "k", "x", "--stdin"], "--stdin"),
            (["set", "k", "x", "--int", "--type", "bool"], "once"),
            (["set", "k", "x", "--type", "array"], "--json"),
            (["set", "k", "{", "--json"], "JSON"), (["set", "k", "null", "--json"], "null"),
            (["ls", "--store", "../x"], "invalid store name"),
            (["ls", "--timeout", "0"], "--timeout"),
            (["watch", "--count", "0"], "--count"), (["frobnicate"], "frobnicate"),
            (["get", "k", "--raw", "--json"], "--raw"),
            (["join", "ftp://x", "--token", "t"], "ftp"),
            (["join", "http://10.0.0.1:1", "--token", "t"], "--insecure-allow-plain-http"),
            (["join", "http://127.0.0.1:1", "--token", "a b"], "invalid token"),
            (["join", "http://127.0.0.1:1"], "no token was given"),
        ])
    func usage(arguments: [String], words: String) async throws {
        try await withHome { home in
            let outcome = try await home.run("kvs", arguments)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.hasPrefix("kvs: "), "\(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    @Test("a key of 129 units ends with 64, a value beyond the quota with 65")
    func limits() async throws {
        try await withHome { home in
            let key = String(repeating: "k", count: 128)
            #expect(try await home.kvs("set", key, "x").status == 0)
            #expect(try await home.kvs("set", key + "k", "x").status == 64)
            let large = Data(repeating: 0x78, count: 1_048_577)
            let outcome = try await home.kvs("set", "large", "--stdin", "--data", input: large)
            #expect(outcome.status == 65, "\(outcome.errors)")
            #expect(try await home.kvs("ls").text == key + "\n")
        }
    }

    @Test("an export of the emulator is imported: the named store, or the only one")
    func worldImport() async throws {
        func store(_ name: String) -> WorldDocument.Store {
            WorldDocument.Store(
                name: name,
                values: [
                    .init(key: "from", value: StoredValue(PropertyListValue.string(name).encoded()))
                ])
        }
        try await withHome { home in
            let two = try home.file(
                "two.json",
                String(decoding: WorldDocument([store("a"), store("b")]).encoded, as: UTF8.self))
            let unnamed = try await home.kvs("import", two)
            #expect(unnamed.status == 65 && unnamed.errors.contains("(a, b); name one with --store"))
            #expect(try await home.kvs("import", two, "--store", "b").status == 0)
            #expect(try await home.kvs("get", "from", "--store", "b").text == "b")
            #expect(try await home.kvs("ls").text == "")
            let one = try home.file("one.json", String(decoding: WorldDocument([store("a")]).encoded, as: UTF8.self))
            #expect(try await home.kvs("import", one).text == "1 new, 0 changed, 0 unchanged\n")
            let bytes = try home.file(
                "bytes.json",
                #"{"version":1,"stores":[{"store":"a","values":[{"key":"k","type":"bytes","value":""}]}]}"#
            )
            let refused = try await home.kvs("import", bytes)
            #expect(refused.status == 65 && refused.errors.contains("stores[0].values[0].type"))
        }
    }

    @Test("a document with one invalid value changes nothing")
    func badImport() async throws {
        try await withHome { home in
            let file = try home.file(
                "bad.json",
                #"{"version":1,"store":"s","exported":"","values":["#
                    + #"{"key":"good","type":"integer","value":1},"#
                    + #"{"key":"","type":"integer","value":1}]}"#)
            let outcome = try await home.kvs("import", file)
            #expect(outcome.status == 65 && outcome.errors.contains("length of 0"))
            #expect(try await home.kvs("ls").text == "")
            #expect(try await home.kvs("import", home.path + "/none").status == 74)
            #expect(try await home.kvs("export", home.path + "/none/x").status == 73)
        }
    }

    @Test("without an account syncing ends with 78, and writing succeeds")
    func notJoined() async throws {
        try await withHome { home in
            #expect(try await home.kvs("sync").status == 78)
            #expect(try await home.kvs("leave").status == 78)
            #expect(try await home.kvs("ls", "--fresh").status == 78)
            #expect(try await home.kvs("set", "k", "v", "--require-sync").status == 78)
            #expect(try await home.kvs("set", "k", "v").status == 0)
            let status = try await home.kvs("status")
            #expect(status.status == 0 && status.text.contains("no account has been joined"))
            #expect(try await home.kvs("status", "--json").text.contains("\"joined\" : false"))
        }
    }

    @Test("joining an unreachable daemon ends with 69, names the address and leaves no file")
    func joinUnreachable() async throws {
        try await withHome { home in
            let outcome = try await home.kvs(
                "join", "http://127.0.0.1:1", "--token-stdin", input: Data("s3cret\n".utf8))
            #expect(outcome.status == 69)
            #expect(outcome.errors.contains("127.0.0.1:1: connection refused"))
            #expect(!outcome.errors.contains("s3cret"))
            #expect(!FileManager.default.fileExists(atPath: home.path + "/.config"))
        }
    }

    @Test("with an unreachable daemon every command works and reports it")
    func offline() async throws {
        try await withHome { home in
            let directory = home.path + "/.config/ubiquity"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let file = directory + "/credentials.json"
            try Data(
                """
                {"version":1,"daemon":"http://127.0.0.1:1","token":"s3cret","account":"a",
                "deviceID":"d","deviceName":"desk"}
                """.utf8
            ).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let exposed = try await home.kvs("ls")
            #expect(exposed.status == 77 && exposed.errors.contains("chmod 600 \(file)"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)

            let set = try await home.kvs("set", "k", "v")
            #expect(set.status == 0)
            #expect(set.errors.hasPrefix("kvs: stored locally, not yet synced: cannot connect to"))
            #expect(set.errors.contains("127.0.0.1:1: connection refused"))
            #expect(try await home.kvs("set", "k", "w", "--require-sync").status == 75)
            let get = try await home.kvs("get", "k")
            #expect(get.status == 0 && get.text == "w" && get.errors.contains("showing"))
            #expect(try await home.kvs("get", "k", "--no-sync").errors == "")
            #expect(try await home.kvs("get", "k", "--fresh").status == 69)
            #expect(try await home.kvs("sync").status == 69)
            let status = try await home.kvs("status")
            #expect(status.text.contains(/pending +1 key/) && !status.text.contains("s3cret"))
            let left = try await home.kvs("leave")
            #expect(left.status == 0 && left.errors.contains("never synced: 1 key;"))
            #expect(try await home.kvs("ls").text == "")
        }
    }

    @Test("watch prints the changes of another program until its count or Ctrl-C")
    func watching() async throws {
        try await withHome { home in
            let watch = try RunningProgram(home, "kvs", ["watch", "p", "--json", "--count", "2"])
            var notes = watch.errors.makeAsyncIterator()
            #expect(await notes.next() == "kvs: watching this machine only")
            _ = try await home.kvs("set", "other", "x")
            var lines = watch.output.makeAsyncIterator()
            _ = try await home.kvs("set", "p/1", "x")
            // A watcher that reads after both writes reports them as one change.
            let first = try #require(await lines.next())
            _ = try await home.kvs("rm", "p/1")
            let second = try #require(await lines.next())
            #expect(first.contains("\"key\":\"p/1\"") && first.contains("\"reason\":\"change\""))
            #expect(second.contains("\"key\":\"p/1\"") && second.contains("\"removed\":true"))
            #expect(await watch.status() == 0)

            let endless = try RunningProgram(home, "kvs", ["watch"])
            var endlessNotes = endless.errors.makeAsyncIterator()
            _ = await endlessNotes.next()
            endless.interrupt()
            #expect(await endless.status() == 0)
        }
    }

    @Test("keys are completed from the local replica of the named store")
    func completion() async throws {
        try await withHome { home in
            func completed(_ words: String..., prefix: String) async throws -> String {
                let protocolWords = ["---completion", "get", "--", "positional@0"]
                let place = [String(words.count), String(prefix.count)]
                return try await home.run("kvs", protocolWords + place + words + [prefix]).text
            }
            #expect(try await completed("kvs", "get", prefix: "") == "")
            #expect(!FileManager.default.fileExists(atPath: home.path + "/.local"))
            _ = try await home.kvs("set", "alpha", "1")
            _ = try await home.kvs("set", "beta", "2")
            _ = try await home.kvs("set", "a-other", "3", "--store", "other")
            // bash would run it.
            _ = try await home.kvs("set", "a$(id)", "4")
            #expect(try await completed("kvs", "get", prefix: "a") == "alpha\n")
            #expect(try await completed("kvs", "get", "--store", "other", prefix: "") == "a-other\n")
        }
    }

    @Test("a repair is reported once, and status lists the damaged file until it is removed")
    func damagedReplica() async throws {
        try await withHome { home in
            #expect(try await home.kvs("set", "k", "v").status == 0)
            let directory = home.path + "/.local/share/ubiquity/replicas/local/default"
            func breakNewestSegment() throws -> String {
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                let newest = try #require(names.filter { $0.hasSuffix(".log") }.max())
                let url = URL(filePath: "\(directory)/\(newest)")
                var bytes = try Data(contentsOf: url)
                bytes[17] ^= 1
                try bytes.write(to: url)
                return "\(directory)/\(newest).damaged-1"
            }
            let programs: [(name: String, arguments: [String])] = [
                ("kvs", ["get", "k"]), ("usage-view", []), ("usage-view", ["--json"]),
            ]
            for (name, arguments) in programs {
                let aside = try breakNewestSegment()
                let outcome = try await home.run(name, arguments)
                #expect(outcome.status == 0, "\(outcome.errors)")
                let lines = outcome.errors.split(separator: "\n").filter { $0.contains(directory) }
                #expect(lines.count == 2, "\(outcome.errors)")
                #expect(lines.allSatisfy { $0.hasPrefix(name + ": ") })
                #expect(lines.filter { $0.contains(aside) }.count == 1)
                #expect(!(try await home.run(name, arguments)).errors.contains(directory))
                #expect(try await home.kvs("get", "k").text == "v")
                let status = try await home.kvs("status")
                #expect(status.text.contains(aside) && status.errors == "")
                #expect(status.text.contains("inspect it, then remove it"))
                let json = try await home.kvs("status", "--json")
                let document = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
                #expect((document["damagedFiles"] as? [String])?.contains(aside) == true)
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: directory)
            where name.contains(".damaged-") { try FileManager.default.removeItem(atPath: "\(directory)/\(name)") }
            #expect(!(try await home.kvs("status")).text.contains("damaged"))
        }
    }
}
