import Foundation
import TestSupport
import Testing

@Suite("Joining again", .timeLimit(.minutes(5)))
struct JoiningAgainTests {
    private func deviceID(_ home: TemporaryHome) throws -> String {
        let data = try Data(contentsOf: URL(filePath: home.path + "/.config/ubiquity/credentials.json"))
        let credentials = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return try #require(credentials?["deviceID"] as? String)
    }

    /// What the daemon lists.
    private func devices(_ daemon: PairedDaemon, _ field: String = "id") async throws -> [String] {
        let list = try await daemon.home.run("kvsd", ["device", "list", "--json"])
        let found = try JSONSerialization.jsonObject(with: Data(list.text.utf8))
        return try #require(found as? [[String: Any]]).compactMap { $0[field] as? String }
    }

    @Test("who joins the same account again replaces the device that the machine was, and get names --fresh")
    func replacing() async throws {
        let (home, device) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(home, device) }
        let daemon = try await PairedDaemon(home)
        do { try await replace(device, daemon) } catch { Issue.record(error) }
        await daemon.stop()
    }

    @Test("a machine has one name and one device however often it joins, also one that it was given")
    func name() async throws {
        let (home, device) = (try TemporaryHome(), try TemporaryHome())
        defer { TemporaryHome.remove(home, device) }
        let daemon = try await PairedDaemon(home)
        for (options, name) in [(["--name", "lap"], "lap"), ([], "lap"), (["--name", "lap"], "lap"), ([], "desk")] {
            if name == "desk" {
                let renamed = try await home.run("kvsd", ["device", "rename", "lap", "desk"])
                #expect(renamed.status == 0, "\(renamed.errors)")
                #expect(try await device.patiently("device", "list").status == 0)
            }
            let joined = try await device.run("kvs", ["join", try await daemon.pair()] + options)
            #expect(joined.status == 0 && joined.errors.isEmpty, "\(joined.errors)")
            #expect(try await devices(daemon, "name") == [name])
        }
        await daemon.stop()
    }

    private func replace(_ device: TemporaryHome, _ daemon: PairedDaemon) async throws {
        #expect(try await device.patiently("join", daemon.pair()).status == 0)
        let first = try deviceID(device)
        #expect(try await device.patiently("set", "k", "v", "--require-sync").status == 0)
        let again = try await device.patiently("join", daemon.pair())
        #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
        let second = try deviceID(device)
        #expect(second != first)
        #expect(try await devices(daemon) == [second])
        #expect(try await device.patiently("get", "k", "--fresh").text == "v")
        // A former token that is revoked already is no reason to complain.
        _ = try await daemon.home.run("kvsd", ["device", "remove", second])
        let last = try await device.patiently("join", daemon.pair())
        #expect(last.status == 0 && last.errors.isEmpty, "\(last.errors)")
        #expect(try await devices(daemon).count == 1)
        let missing = try await device.patiently("get", "none")
        #expect(missing.status == 1 && missing.errors.contains("--fresh"))
        let fresh = try await device.patiently("get", "none", "--fresh")
        #expect(fresh.status == 1 && !fresh.errors.contains("--fresh"))
    }
}
