import Foundation
import HTTPTypes
import KVStore
import KVStoreHTTP
import TestSupport
import ServerTestSupport
import Testing

/// `kvsd emulator` as a process.
@Suite("kvsd emulator", .timeLimit(.minutes(5)))
struct StartTests {
    private let home = try! TemporaryHome()

    private var statusFile: String { home.path + "/.local/share/ubiquity/emulator.json" }

    /// Starts an emulator on a free port, and returns it with its URL.
    private func start(_ options: String...) async throws -> (RunningProgram, url: String) {
        try await start(program: "kvsd", ["emulator", "--port", "0"] + options)
    }

    private func start(program: String, _ arguments: [String]) async throws -> (RunningProgram, url: String) {
        let program = try RunningProgram(home, program, arguments)
        for await line in program.errors {
            if let match = line.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+), in memory; page: \1\/$/) {
                return (program, String(match.1))
            }
        }
        throw NotStarted()
    }

    private struct NotStarted: Error {}

    /// Every file below the home directory.
    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: home.path).filter {
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: home.path + "/" + $0, isDirectory: &isDirectory) && !isDirectory.boolValue
        }
    }

    @Test("it is found by its name, creates one file and removes it", arguments: [SIGTERM, SIGINT, SIGHUP])
    func running(number: Int32) async throws {
        defer { home.remove() }
        var home = home
        home.variables["TMPDIR"] = try home.directory("tmp")
        let (program, url) = try await start()
        let permissions = try FileManager.default.attributesOfItem(atPath: statusFile)
        #expect(permissions[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOfFile: statusFile, encoding: .utf8).contains(url))
        #expect(try files() == [".local/share/ubiquity/emulator.json"])
        home.variables["UBIQUITY_DAEMON"] = "emulator"
        home.variables["UBIQUITY_TOKEN"] = "w/phone"
        let set = try await home.kvs("set", "color", "green", "--require-sync", "--timeout", "120")
        #expect(set.status == 0, "\(set.errors)")
        home.variables["UBIQUITY_TOKEN"] = "w/desk"
        home.variables["UBIQUITY_DAEMON"] = url
        let get = try await home.kvs("get", "color", "--fresh", "--timeout", "120")
        #expect(get.text == "green", "\(get.errors)")
        program.send(number)
        #expect(await program.status() == 0)
        #expect(!FileManager.default.fileExists(atPath: statusFile))
        #expect(try files().allSatisfy { $0.contains("/replicas/") })
    }

    @Test("the status file of a process that is gone counts for nothing")
    func stale() async throws {
        defer { home.remove() }
        var home = home
        let ended = try await home.shell("echo $$")
        let processID = ended.text.trimmingCharacters(in: .whitespacesAndNewlines)
        try home.file(
            ".local/share/ubiquity/emulator.json",
            #"{"version":1,"processID":\#(processID),"url":"http://127.0.0.1:1"}"#)
        home.variables["UBIQUITY_DAEMON"] = "emulator"
        home.variables["UBIQUITY_TOKEN"] = "w/phone"
        let get = try await home.kvs("get", "color")
        #expect(get.status == 69 && get.errors.contains("run kvsd emulator"), "\(get.errors)")
    }

    @Test("when emulators end, the one that was started last of the others is found")
    func earlier() async throws {
        defer { home.remove() }
        let environment = StoreEnvironment(home: home.path, variables: [:])
        var emulators: [(program: RunningProgram, url: String)] = []
        for _ in 0..<3 { emulators.append(try await start()) }
        #expect(environment.emulatorURL == emulators[2].url)
        emulators[1].program.send(SIGTERM)
        #expect(await emulators[1].program.status() == 0)
        // It removes nothing.
        emulators[2].program.send(SIGKILL)
        #expect(await emulators[2].program.status() == -SIGKILL)
        #expect(environment.emulatorURL == emulators[0].url)
        let (last, lastURL) = try await start()
        #expect(environment.emulatorURL == lastURL)
        last.send(SIGTERM)
        #expect(await last.status() == 0)
        #expect(environment.emulatorURL == emulators[0].url)
        emulators[0].program.send(SIGTERM)
        #expect(await emulators[0].program.status() == 0)
        #expect(!FileManager.default.fileExists(atPath: statusFile))
    }

    @Test("the one that was started last is found, and the end of another one changes nothing")
    func several() async throws {
        defer { home.remove() }
        let (first, firstURL) = try await start()
        let (second, secondURL) = try await start()
        #expect(firstURL != secondURL)
        first.send(SIGTERM)
        #expect(await first.status() == 0)
        #expect(try String(contentsOfFile: statusFile, encoding: .utf8).contains(secondURL))
        second.send(SIGTERM)
        #expect(await second.status() == 0)
        #expect(!FileManager.default.fileExists(atPath: statusFile))
    }

    @Test(
        "a world is imported at the start, exported at the end, and the port is written", arguments: [SIGTERM, SIGHUP])
    func files(number: Int32) async throws {
        defer { home.remove() }
        let before = try home.file(
            "before.json",
            """
            {"stores":[
              {"store":"s","values":[
                {"key":"k","type":"bool","value":true}
              ]}
            ],"version":1}

            """)
        let (program, url) = try await start(
            "--import", before, "--export-on-exit", home.path + "/after.json", "--world", "w",
            "--port-file", home.path + "/port")
        let port = try String(contentsOfFile: home.path + "/port", encoding: .utf8)
        #expect(url + "\n" == "http://127.0.0.1:" + port)
        let client = TestClient(port: try #require(Int(port.dropLast())))
        let exported = try await client.execute(uri: "/emulator/v1/worlds/w/export", method: .get)
        await client.close()
        program.send(number)
        #expect(await program.status() == 0)
        let document = try String(contentsOfFile: before, encoding: .utf8)
        #expect(exported.text == document)
        #expect(try String(contentsOfFile: home.path + "/after.json", encoding: .utf8) == document)
    }

    @Test("the end of a terminal sends SIGHUP more than once, and loses no export")
    func hangUps() async throws {
        defer { home.remove() }
        let (program, url) = try await start("--export-on-exit", home.path + "/after.json")
        // A live stream takes the emulator some time to end.
        let port = try #require(Int(url.split(separator: ":").last ?? ""))
        var stream = try await EventReader(port: port, path: "/emulator/v1/events", token: "none")
        #expect(await stream.nextEvent()?.name == "opened")
        for _ in 0..<20 { program.send(SIGHUP) }
        #expect(await program.status() == 0)
        #expect(FileManager.default.fileExists(atPath: home.path + "/after.json"))
    }

    @Test("SIGHUP does not end an emulator that was started to ignore it")
    func ignoredHangUp() async throws {
        defer { home.remove() }
        let kvsd = try #require(TemporaryHome.program("kvsd")).path
        let (program, url) = try await start(
            program: "/bin/sh", ["-c", "trap '' HUP; exec '\(kvsd)' emulator --port 0"])
        program.send(SIGHUP)
        let client = TestClient(port: try #require(Int(url.split(separator: ":").last ?? "")))
        #expect(try await client.execute(uri: "/healthz", method: .get).status == .ok)
        await client.close()
        program.send(SIGTERM)
        #expect(await program.status() == 0)
    }

    @Test("with few open files, connections past what they allow are answered or closed")
    func fewOpenFiles() async throws {
        defer { home.remove() }
        let kvsd = try #require(TemporaryHome.program("kvsd")).path
        let (program, url) = try await start(
            program: "/bin/sh", ["-c", "ulimit -n 64; exec '\(kvsd)' emulator --port 0"])
        let port = try #require(Int(url.split(separator: ":").last ?? ""))
        var connections: [RawConnection] = []
        for _ in 0..<100 { connections.append(try await RawConnection.open(port: port)) }
        for connection in connections {
            // Those that are closed already cannot be written to.
            try? await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // To the first bytes or the end.
            for await _ in connection.bytes { break }
        }
        for connection in connections { await connection.close() }
        program.send(SIGTERM)
        #expect(await program.status() == 0)
    }

    @Test("beyond loopback it listens under named hosts only")
    func hosts() async throws {
        defer { home.remove() }
        let unnamed = try await home.run("kvsd", ["emulator", "--port", "0", "--listen", "0.0.0.0"])
        #expect(unnamed.status == 64)
        #expect(
            unnamed.errors.contains(
                "--listen 0.0.0.0 needs --host NAME for each name or address under which clients reach it"
            ), "\(unnamed.errors)")
        let invalid = try await home.run("kvsd", ["emulator", "--port", "0", "--host", "http://phone.test"])
        #expect(invalid.status == 64 && invalid.errors.contains("http://phone.test"))
        let (program, url) = try await start("--listen", "0.0.0.0", "--host", "Phone.test", "--host", "2001:db8::7")
        let port = try #require(Int(url.split(separator: ":").last ?? ""))
        for (host, status) in [
            ("phone.test", "200"), ("PHONE.test:80", "200"), ("[2001:db8::7]:1", "200"), ("localhost", "200"),
            ("other.test", "403"), ("phone.test.other", "403"), ("0.0.0.0", "403"),
        ] {
            let connection = try await RawConnection.open(port: port)
            try await connection.send("GET /emulator/v1/worlds HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(await connection.rest().dropFirst(9).prefix(3) == status, "\(host)")
        }
        program.send(SIGTERM)
        #expect(await program.status() == 0)
    }

    @Test("a port in use is an error")
    func portInUse() async throws {
        defer { home.remove() }
        let (program, url) = try await start()
        let port = String(url.split(separator: ":").last ?? "")
        let second = try await home.run("kvsd", ["emulator", "--port", port])
        #expect(second.status == 69)
        let known = try String(contentsOfFile: statusFile, encoding: .utf8)
        let processID = try #require(known.firstMatch(of: /"processID":(\d+)/)).1
        #expect(
            second.errors == """
                kvsd: cannot listen on 127.0.0.1:\(port): the port is in use; stop the emulator that \
                listens there (process \(processID)), or choose another port: --port 0 is any free one

                """)
        try FileManager.default.removeItem(atPath: statusFile)
        let third = try await home.run("kvsd", ["emulator", "--port", port])
        #expect(
            third.errors == """
                kvsd: cannot listen on 127.0.0.1:\(port): the port is in use; stop the program that \
                listens there, or choose another port: --port 0 is any free one

                """)
        program.send(SIGTERM)
        #expect(await program.status() == 0)
    }
}
