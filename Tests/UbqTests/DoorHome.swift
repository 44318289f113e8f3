import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// A machine of a person, with a home directory of its own and nothing that manages services.
final class DoorHome: Sendable {
    let home: TemporaryHome

    /// - Parameter percent: of the session limit that Codex has written, the higher the later, so that of two machines
    ///   the higher one is shown; nil without any tool.
    init(percent: Int? = 36, variables: [String: String] = [:]) throws {
        var home = try TemporaryHome()
        home.variables = ["PATH": "\(home.path)/programs:/usr/bin:/bin"].merging(variables) { $1 }
        self.home = home
        try program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
        guard let percent else { return }
        let now = Date()
        let reset = Int(now.addingTimeInterval(7_200).timeIntervalSince1970)
        try home.file(
            ".codex/sessions/2026/09/18/rollout-a.jsonl",
            #"{"timestamp":"\#((now - Double(100 - percent)).formatted(.iso8601))","type":"event_msg","payload":{"#
                + #""type":"token_count","rate_limits":{"primary":{"used_percent":\#(percent),"#
                + #""window_minutes":300,"resets_at":\#(reset)}}}}"# + "\n")
    }

    /// What was started in the background leads sessions of its own.
    deinit {
        for program in ["kvsd", "usage-push"] {
            let file = home.path + "/.local/state/ubiquity/\(program).running"
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { continue }
            if let number = text.split(separator: " ").first.flatMap({ pid_t($0) }) {
                Foundation.kill(number, SIGKILL)
            }
        }
        home.remove()
    }

    /// Kills what runs in the background, as the system may.
    func kill(_ program: String) throws {
        let file = home.path + "/.local/state/ubiquity/\(program).running"
        let number = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ").first.flatMap {
            pid_t($0)
        }
        try #require(Foundation.kill(try #require(number), SIGKILL) == 0)
    }

    /// A shell script in the search path, before those of the system.
    func program(_ name: String, _ script: String) throws {
        let path = try home.file("programs/\(name)", "#!/bin/sh\n\(script)\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    func ubq(_ arguments: String..., input: Data? = nil) async throws -> TemporaryHome.Outcome {
        try await home.run("ubq", arguments, input: input)
    }

    /// Each file with its content, but for those of this product.
    func otherFiles() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: home.path)
        where !name.contains("ubiquity") && !name.contains("/lib/") {
            files[name] = FileManager.default.contents(atPath: home.path + "/" + name)
        }
        return files
    }

    /// A daemon of the test that others can join: another port than that of a daemon that may run here.
    static func port() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The line for the next machine that a command has printed.
    static func line(in text: String) throws -> String {
        String(try #require(text.firstMatch(of: /ubq join '(ubiquity:[^']*)'/), "\(text)").1)
    }

    /// The same line with the loopback address, which leads here from every network.
    static func local(_ line: String) -> String {
        line.replacing(/ubiquity:\/\/[^\/]*:/, with: "ubiquity://127.0.0.1:")
    }
}
