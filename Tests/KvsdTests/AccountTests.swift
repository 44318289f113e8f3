import Foundation
import HTTPTypes
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import kvsd

@Suite("kvsd account", .timeLimit(.minutes(5)))
struct AccountTests {
    private let directory = try! TemporaryDirectory()
    private var data: String { directory.path + "/data" }

    private func kvsd(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await DaemonProcess.run(arguments + ["--data", data])
    }

    private func token(_ name: String, account: String) async throws -> String {
        let added = try await kvsd("device", "add", name, "--account", account)
        let match = added.output.firstMatch(of: /(ubq_[A-Za-z0-9_-]{43})/)
        return try String(#require(match, "\(added.errors)").1)
    }

    /// The status of the answer to a value of `count` bytes.
    private func put(
        _ key: String, in store: String = "s", _ count: Int, _ daemon: DaemonProcess, _ token: String
    ) async throws -> Int {
        let client = TestClient(port: daemon.port)
        let response = try await client.execute(
            uri: "/v1/stores/\(store)/keys/\(key)", method: .put,
            headers: [
                .authorization: "Bearer \(token)", .contentType: "application/octet-stream",
            ], body: .init(repeating: 0x61, count: count))
        await client.close()
        return response.status.code
    }

    @Test("an account is added, limited, listed and removed while the daemon runs")
    func running() async throws {
        let daemon = try await DaemonProcess(dataPath: data)
        let early = try await kvsd("device", "add", "phone", "--account", "family")
        #expect(early.status == 65 && early.errors.contains("kvsd account add family"))
        let pair = try await kvsd("pair", "--account", "family")
        #expect(pair.status == 65 && pair.errors.contains("kvsd account add family"))
        #expect(try await kvsd("account", "add", "family", "--max-bytes", "1kB").status == 0)
        #expect(try await kvsd("account", "add", "family").status == 65)
        let phone = try await token("phone", account: "family")
        let laptop = try await token("laptop", account: "default")
        #expect(try await put("k", 2_000, daemon, phone) == 507)
        #expect(try await put("k", 500, daemon, phone) == 200)
        #expect(try await put("k", 2_000, daemon, laptop) == 200)
        let limited = try await kvsd("account", "limit", "family", "--max-bytes", "1MB")
        #expect(limited.status == 0 && limited.output.contains("memory: 1.0 MB"))
        #expect(try await put("k", 2_000, daemon, phone) == 200)
        let list = try await kvsd("account", "list")
        #expect(list.output.contains(/family +1 +1 of 1024 +1 +2\.3 kB of 1\.0 MB\n/), "\(list)")
        let json = try await kvsd("account", "list", "--json")
        let accounts = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(accounts.map { $0["account"] as? String } == ["default", "family"])
        #expect(accounts.last?["byteCount"] as? Int == 2_386)
        let status = try await kvsd("status")
        #expect(status.output.contains(/family +1 +1 of 1024 +1 +2\.3 kB of 1\.0 MB\n/))

        let asked = try await kvsd("account", "remove", "family")
        #expect(asked.status == 64 && asked.errors.contains("--yes"))
        #expect(asked.output.contains("devices  phone") && asked.output.contains("1, with 1 keys"))
        #expect(try await put("k", 1, daemon, phone) == 200)
        let removed = try await kvsd("account", "remove", "family", "--yes")
        #expect(removed.status == 0 && removed.output.contains("Removed the account family."))
        #expect(try await put("k", 1, daemon, phone) == 401)
        #expect(try await put("k", 1, daemon, laptop) == 200)
        #expect(try await !kvsd("account", "list").output.contains("family"))
        #expect(try await kvsd("account", "remove", "family", "--yes").status == 65)
        #expect(try await kvsd("account", "remove", "default", "--yes").status == 65)
        #expect(await daemon.stop() == 0)
        #expect(try await !kvsd("check").output.contains("family"))
    }

    @Test("a removal that a daemon has not finished when it is killed is finished by the command")
    func killed() async throws {
        #expect(try await kvsd("account", "add", "family").status == 0)
        let phone = try await token("phone", account: "family")
        let daemon = try await DaemonProcess(dataPath: data)
        for number in 0..<20 {
            #expect(try await put("k", in: "s\(number)", 9, daemon, phone) == 200)
        }
        daemon.suspend()
        async let removal = kvsd("account", "remove", "family", "--yes")
        let path = data + "/devices.json"
        try await wait { try String(contentsOfFile: path, encoding: .utf8).contains("\"removed\"") }
        let marked = try await kvsd("account", "list")
        #expect(marked.output.contains(/family \(being removed\) +0 +20 of 1024/), "\(marked)")
        let refused = try await kvsd("account", "add", "family")
        #expect(refused.status == 65 && refused.errors.contains("'family' is being removed"))
        await daemon.kill()
        let removed = try await removal
        #expect(removed.status == 0 && removed.output.contains("Removed the account family."))
        #expect(try await !kvsd("account", "list").output.contains("family"))
        #expect(try await !kvsd("check").output.contains("family"))
        #expect(try await kvsd("account", "add", "family").status == 0)
    }

    @Test(
        "sizes have units, and what is no limit is a usage error that names it",
        arguments: [
            ("1", 1), ("100MB", 100_000_000), ("1 gb", 1_000_000_000), ("2TB", 2_000_000_000_000),
            ("none", nil),
        ] as [(String, Int?)])
    func sizes(text: String, value: Int?) throws {
        #expect(try LimitArgument.bytes(text).value == value)
    }

    @Test("invalid limits name the value", arguments: ["0", "-1", "1.5MB", "MB", "9999999999TB"])
    func invalidSizes(text: String) async throws {
        let refused = try await kvsd("account", "add", "family", "--max-bytes=\(text)")
        #expect(refused.status == 64 && refused.errors.contains("'\(text)'"), "\(refused.errors)")
        let stores = try await kvsd("account", "add", "family", "--max-stores=\(text)")
        #expect(stores.status == 64 && stores.errors.contains("'\(text)'"), "\(stores.errors)")
        #expect(!FileManager.default.fileExists(atPath: data))
    }
}
