@testable import clip
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@Suite("Ways to collect", .timeLimit(.minutes(1)))
struct CollectDetectionTests {
    @Test(
        "without a display of this machine, only what is added is kept, for a reason that is given",
        arguments: [
            ([:], CollectorBackend.Reason.noDisplay),
            (["DISPLAY": "", "WAYLAND_DISPLAY": ""], .noDisplay),
            (["DISPLAY": ":0", "SSH_CONNECTION": "x"], .remote),
            (["WAYLAND_DISPLAY": "wayland-0", "SSH_TTY": "/dev/pts/1"], .remote),
            (["DISPLAY": ":0", "PATH": "/missing"], .noXclip),
        ])
    func none(environment: [String: String], reason: CollectorBackend.Reason) {
        let backend = CollectorBackend.detect(environment)
        #expect(backend == .none(reason) && backend.name == "none")
        #expect(backend.limits.count == 2)
    }

    @Test("a Wayland desktop without data control is none; the reason names GNOME")
    func noDataControl() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        // The global object `wl_seat`, version 7, then the answer to the request for all of them.
        let seat: [UInt32] = [2, 28 << 16, 1, 8, 0x735F_6C77, 0x0074_6165, 7, 3, 12 << 16, 1]
        let bytes = seat.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
        let display = try await FakeDisplay.start(home, "\(home.path)/display", [bytes])
        let environment = ["WAYLAND_DISPLAY": "\(home.path)/display", "DISPLAY": ":0"]
        let backend = CollectorBackend.detect(environment)
        #expect(backend == .none(.noDataControl))
        #expect(backend.limits[0].contains("GNOME"))
        display.kill()
        // Not known to be without it: the collector tries again.
        #expect(CollectorBackend.detect(environment) == .wayland)
    }

    @Test("without a display the collector runs all the same, and says what it does not do")
    func running() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let program = try RunningProgram(home, "clip", ["collect"])
        var lines = program.errors.makeAsyncIterator()
        #expect(await lines.next() == "There is neither a Wayland nor an X11 display.")
        #expect(await lines.next() == "Only what 'clip add' is given is kept.")
        program.send(SIGTERM)
        #expect(await program.status() == 0)
    }

    @Test("a service finds the display that a desktop has imported into the service manager")
    func service() throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let output = "HOME=/x\nDISPLAY=:7\nWAYLAND_DISPLAY=\nXAUTHORITY=$'/a\\nb'\nDISPLAYS=1\n"
        let tool = try home.file("systemctl", "#!/bin/sh\nexec cat <<'END'\n\(output)END\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
        let environment = ["PATH": home.path + ":/usr/bin:/bin", "HOME": home.path]
        #expect(SessionEnvironment.present(environment) == environment)
        let service = environment.merging(["INVOCATION_ID": "1"]) { $1 }
        #expect(SessionEnvironment.present(service)["DISPLAY"] == ":7")
        #expect(SessionEnvironment.present(service)["HOME"] == home.path)
        #expect(SessionEnvironment.present(service)["XAUTHORITY"] == nil)
        // What a session that has ended left is not used.
        let former = service.merging(["WAYLAND_DISPLAY": "wayland-1"]) { $1 }
        #expect(SessionEnvironment.present(former)["WAYLAND_DISPLAY"] == nil)
    }

    @Test("names of types: one for each type, UTF-8 first, of images the best, none of a secret")
    func choice() {
        func names(_ offered: String..., enabled: EnabledKinds = .all) -> [String] {
            var filter = CopyFilter()
            filter.enabled = enabled
            filter.ignoredTypes = ["own.secret"]
            return filter.names(of: offered)
        }
        #expect(names("TEXT", "STRING", "text/plain", "UTF8_STRING") == ["UTF8_STRING"])
        #expect(names("UTF8_STRING", "text/plain;charset=utf-8") == ["text/plain;charset=utf-8"])
        #expect(names("STRING", "TEXT") == ["STRING"])
        #expect(names("text/plain;charset=utf-16") == [])
        #expect(names("image/tiff", "image/bmp", "image/jpeg") == ["image/jpeg"])
        #expect(names("image/jpeg", "image/png") == ["image/png"])
        #expect(
            names("x-special/gnome-copied-files", "text/uri-list", "text/html", "text/rtf") == [
                "text/html", "text/rtf", "text/uri-list", "x-special/gnome-copied-files",
            ])
        #expect(names("text/plain", "image/png", enabled: .images) == ["image/png"])
        #expect(names("STRING", enabled: .images) == [])
        #expect(names("text/plain", "OWN.secret") == [])
        #expect(names("text/plain", "X-KDE-PasswordManagerHint") == [])
        #expect(names("text/plain", "CanIncludeInClipboardHistory") == ["CanIncludeInClipboardHistory", "text/plain"])
    }

    @Test("the unit runs the collector, with no variable but paths")
    func unit() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        var variables = home
        variables.variables = ["WAYLAND_DISPLAY": "w", "XDG_DATA_HOME": "/d", "PATH": "/missing"]
        let outcome = try await variables.run("clip", ["collect", "--install", "--backend", "none"])
        #expect(outcome.status == 69, "\(outcome.errors)")
        let unit = try String(
            contentsOfFile: home.path + "/.config/systemd/user/ubiquity-clip.service", encoding: .utf8)
        #expect(unit.contains("clip collect --backend none\nEnvironment=XDG_DATA_HOME=/d\n"))
        #expect(!unit.contains("WAYLAND_DISPLAY"))
        let removal = try await variables.run("clip", ["collect", "--uninstall"])
        #expect(removal.text.hasPrefix("removed ") && removal.status == 0)
    }
}

@Suite("Displays that misbehave", .serialized, .timeLimit(.minutes(1)))
struct CollectMalformedTests {
    @Test("what is no message of Wayland ends the connection", .requires(programs: ["python3"]))
    func wayland() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var randomness = SeededGenerator(seed: seed)
        let path = home.path + "/display"
        var cases: [[UInt8]] = [[], [2, 0, 0, 0], [2, 0, 0, 0, 0, 0, 7, 0], [2, 0, 0, 0, 0, 0, 9, 0]]
        // Messages of likely objects whose arguments are anything.
        for _ in 0..<100 {
            cases.append(
                (0..<Int.random(in: 1...8, using: &randomness)).flatMap { _ in
                    let body = Self.bytes(Int.random(in: 0...6, using: &randomness) * 4, &randomness)
                    let object = UInt32.random(in: 1...7, using: &randomness)
                    let operation = UInt32.random(in: 0...3, using: &randomness)
                    let head = [object, UInt32(body.count + 8) << 16 | operation]
                    return head.flatMap { number in withUnsafeBytes(of: number) { Array($0) } } + body
                })
        }
        let display = try await FakeDisplay.start(home, path, cases)
        for bytes in cases {
            #expect(throws: SourceError.self, "\(bytes)") {
                let source = try WaylandSource(environment: ["WAYLAND_DISPLAY": path], Cancellation())
                while try source.next({ $0 }, Cancellation()) != nil {}
            }
        }
        display.kill()
    }

    @Test("what is no message of X11 ends the connection", .requires(programs: ["python3", "xclip"]))
    func x11() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var randomness = SeededGenerator(seed: seed)
        let number = Int.random(in: 10_000...60_000)
        let directory = "/tmp/.X11-unix"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // A setup without a screen, one that is cut off, and one that is right with anything after it.
        var cases: [[UInt8]] = [[], [1, 0, 11, 0, 0, 0, 0, 0], [1, 0, 11, 0, 0, 0, 9, 0, 1]]
        for _ in 0..<100 {
            var setup = Self.bytes(72, &randomness)
            (setup[16], setup[17], setup[20], setup[21]) = (0, 0, 1, 0)
            let answers = (0..<Int.random(in: 0...12, using: &randomness)).flatMap { _ in
                var answer = Self.bytes(32, &randomness)
                answer[0] = [0, 1, 1, 1, 28, 35, 87, answer[0]].randomElement(using: &randomness)!
                (answer[4], answer[5], answer[6], answer[7]) = (answer[4] & 3, 0, 0, 0)
                return answer
            }
            cases.append([1, 0, 11, 0, 0, 0, 18, 0] + setup + answers)
        }
        let path = "\(directory)/X\(number)"
        let display = try await FakeDisplay.start(home, path, cases)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let environment = ["DISPLAY": ":\(number)", "PATH": "/usr/bin", "HOME": home.path]
        for bytes in cases {
            #expect(throws: SourceError.self, "\(bytes)") {
                let source = try X11Source(environment: environment, Cancellation())
                while try source.next({ _ in [] }, Cancellation()) != nil {}
            }
        }
        display.kill()
    }

    @Test("an authority file is read up to an entry that is cut off, and has the cookie of a display")
    func authority() {
        func field(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(bytes.count)] + bytes }
        func entry(_ family: [UInt8], _ display: String, _ method: String, _ data: [UInt8]) -> [UInt8] {
            family + field(Array("host".utf8)) + field(Array(display.utf8)) + field(Array(method.utf8)) + field(data)
        }
        let cookie = X11Authority.method
        let bytes =
            entry([0, 0], "0", cookie, [1]) + entry([1, 0], "1", cookie, [2])
            + entry([1, 0], "0", "OTHER", [3]) + entry([1, 0], "0", cookie, [4])
            + entry([255, 255], "", cookie, [5])
        let entries = X11Authority.entries(bytes)
        #expect(entries.count == 5)
        #expect([0, 1, 2].map { X11Authority.cookie(display: $0, in: entries) } == [[4], [2], [5]])
        for count in 0..<bytes.count {
            let part = X11Authority.entries(Array(bytes.prefix(count)))
            #expect(part == Array(entries.prefix(part.count)) && part.count < 5)
        }
        #expect(X11Authority.cookie(display: 3, in: []) == [])
    }

    @Test("displays of this machine have a number")
    func displays() {
        let names = [":0", ":12.1", "unix:3", "localhost:10.0", "/tmp/x:0", "", ":", ":-1", ":x", "a:b:1"]
        #expect(names.map(X11Connection.localDisplay) == [0, 12, 3, nil, nil, nil, nil, nil, nil, nil])
    }

    private static func bytes(_ count: Int, _ randomness: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &randomness) }
    }
}

/// A server that says the same whatever is asked, and then no more.
enum FakeDisplay {
    private static let script = """
        import socket, sys
        server = socket.socket(socket.AF_UNIX)
        server.bind(sys.argv[1])
        server.listen()
        print("ready", flush=True)
        for answer in sys.argv[2:]:
            client, _ = server.accept()
            client.sendall(bytes.fromhex(answer[1:]))
            client.shutdown(socket.SHUT_WR)
            try:
                while client.recv(65536): pass
            except ConnectionResetError: pass
            client.close()
        """

    static func start(_ home: TemporaryHome, _ path: String, _ answers: [[UInt8]]) async throws -> SessionProcess {
        let texts = answers.map { "x" + $0.map { String(format: "%02x", $0) }.joined() }
        let server = try SessionProcess(home, ["python3", "-c", script, path] + texts)
        _ = try await server.line(after: "ready")
        return server
    }
}
