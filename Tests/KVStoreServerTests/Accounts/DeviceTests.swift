import Foundation
import KVStoreCore
import KVStoreLedger
import LocalFiles
import Logging
import NIOCore
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Devices")
struct DeviceTests {
    private func device(_ name: String, id: String = "1", account: String = "default") -> Device {
        Device(
            id: id, name: name, account: account, scopes: [.read], stores: nil, created: 5,
            tokenSHA256: TokenDigest(of: name + id))
    }

    @Test("a token has 256 random bits and a prefix")
    func token() {
        var random = SplitMix64(seed: 3)
        let token = DeviceToken(using: &random)
        let other = DeviceToken(using: &random)
        #expect(token.text.hasPrefix("ubq_"))
        #expect(token.text.utf8.count == 4 + 43)
        #expect(token.text != other.text)
        #expect(token.digest == TokenDigest(of: token.text))
        #expect(token.digest != other.digest)
        #expect(DeviceToken(authorization: "bearer \(token.text)")?.digest == token.digest)
    }

    @Test(
        "a header without a token is rejected before any lookup",
        arguments: [
            "", "ubq", "Bearer", "Bearer ", "Basic ubq_x", "ubq_x", "Bearer x",
            "Bearer ubq_" + String(repeating: "a", count: 200),
        ])
    func notTokens(text: String) {
        #expect(DeviceToken(authorization: text) == nil)
    }

    @Test("a device is found by its id, even if another one has that as its name")
    func idBeforeName() throws {
        var table = DeviceTable(instance: "i")
        try table.add(device("2", id: "1"))
        try table.add(device("1", id: "2"))
        #expect(try table.remove("1", account: nil).name == "2")
        #expect(try table.remove("1", account: nil).id == "2")
    }

    @Test("a device can be limited to no more stores than the file has room for")
    func storeLimit() throws {
        var table = DeviceTable(instance: "i")
        var limited = device("a")
        limited.stores = (0...DeviceTable.storeCount).map { "s\($0)" }
        #expect(throws: ServerError.self) { try table.add(limited) }
        limited.stores?.removeLast()
        try table.add(limited)
    }

    @Test("a file that could not be read again is not written")
    func fileLimit() throws {
        let temporary = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: temporary.path)
        func add(_ ids: Range<Int>) throws(ServerError) {
            try file.change { table throws(ServerError) in
                for id in ids {
                    var device = device("d\(id)", id: "\(id)")
                    device.stores = Array(repeating: String(repeating: "s", count: 128), count: DeviceTable.storeCount)
                    try table.add(device)
                }
            }
        }
        try add(0..<100)
        #expect(throws: ServerError.self) { try add(100..<400) }
        #expect(try file.devices.count == 100)
    }

    @Test("commands do not replace a file of another user")
    func otherUser() throws {
        try #require(geteuid() == 0, "needs to run as root to give a file away")
        let temporary = try TemporaryDirectory()
        let directory = DataDirectory(temporary.path)
        _ = try directory.deviceFile.add("laptop", DevicePermissions())
        chown(temporary.path + "/devices.json", 65_534, 65_534)
        for change in [
            { _ = try directory.deviceFile.add("phone", DevicePermissions()) },
            { _ = try directory.openLedger() },
        ] {
            do {
                try change()
                Issue.record("a file of another user was replaced")
            } catch let error as ServerError {
                #expect(error.hint?.contains("sudo -u") == true, "\(error)")
            }
        }
    }

    @Test("a code adds no device once its maker is no administrator, whenever that happens")
    func maker() throws {
        let temporary = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: temporary.path)
        let boss = try file.add("boss", DevicePermissions(isAdmin: true)).device
        _ = try file.add("phone", DevicePermissions(), maker: boss.id)
        _ = try file.change { table throws(ServerError) in
            try table.remove("boss", account: nil)
        }
        #expect(throws: ServerError.self) {
            try file.add("tablet", DevicePermissions(), maker: boss.id)
        }
    }

    @Test("every offline command begins epochs of its own")
    func epochs() throws {
        let temporary = try TemporaryDirectory()
        let store = StoreID(account: "default", name: "s")
        let ends = try ["a", "b"].map { name in
            let ledger = try DataDirectory(temporary.path + "/" + name).openLedger()
            _ = try ledger.accept(
                [
                    StoreRecord(
                        key: "k", stamp: StoreStamp(milliseconds: 1, counter: 0, replica: ReplicaID(rawValue: 1)),
                        content: .tombstone)
                ],
                to: store, now: 5)
            return try #require(ledger.end(of: store))
        }
        #expect(ends[0].epoch != ends[1].epoch)
    }

    @Test(
        "failed attempts count by IPv4 address, and by network for IPv6",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "20:1:d:b8:0:1:0:2"), ("2001:db8:1:2::9", "20:1:d:b8:0:1:0:2"),
        ])
    func networks(address: String, network: String) throws {
        #expect(try SocketAddress(ipAddress: address, port: 1).network == network)
    }

    @Test("the file preserves all devices and contains no token")
    func codec() throws {
        var random = SplitMix64(seed: 4)
        let token = DeviceToken(using: &random)
        var table = DeviceTable(instance: "i")
        var limited = device("display", id: "2", account: "work")
        limited.stores = ["usage"]
        limited.tokenSHA256 = token.digest
        try table.add(device("laptop"))
        try table.add(limited)
        #expect(try DeviceTable(json: table.json, path: "p") == table)
        #expect(!String(decoding: table.json, as: UTF8.self).contains(token.text.dropFirst(4)))
    }

    @Test(
        "a file of another format or version is unreadable",
        arguments: [
            "", "[]", #"{"version":2,"instance":"i","devices":[]}"#,
            #"{"version":1,"instance":"i","devices":[{"id":"1","name":"a","account":"a","scopes":[],"created":1,"tokenSHA256":"AAAA"}]}"#,
        ])
    func badFile(text: String) {
        let error = #expect(throws: ServerError.self) {
            _ = try DeviceTable(json: Data(text.utf8), path: "/data/devices.json")
        }
        #expect(error?.code == .unreadable)
        #expect(error?.message.contains("/data/devices.json") == true)
    }

    @Test("names are unique in an account, and an ambiguous name removes nothing")
    func names() throws {
        var table = DeviceTable(instance: "i")
        func fails(with text: String, _ body: (inout DeviceTable) throws -> Void) {
            let error = #expect(throws: ServerError.self) { try body(&table) }
            #expect(error?.code == .invalidDevice)
            #expect(error?.message.contains(text) == true, "\(String(describing: error))")
        }
        try table.add(device("laptop", id: "1"))
        fails(with: "already has a device 'laptop'") { try $0.add(device("laptop", id: "2")) }
        try table.add(device("laptop", id: "2", account: "work"))
        fails(with: "several accounts") { _ = try $0.remove("laptop", account: nil) }
        #expect(try table.remove("laptop", account: "work").id == "2")
        #expect(try table.rename("1", account: nil, to: "desk").name == "desk")
        #expect(try table.rename("1", account: nil, to: "desk").name == "desk")
        fails(with: "unknown device 'laptop'") { _ = try $0.remove("laptop", account: nil) }
    }

    @Test(
        "account and store names cannot be paths or break a line",
        arguments: ["", ".", "..", "../x", "a/b", ".hidden", "a b", "ä", "a\u{0}", "a%2Fb"])
    func accountNames(name: String) {
        var table = DeviceTable(instance: "i")
        #expect(throws: ServerError.self) { try table.add(device("laptop", account: name)) }
        var limited = device("laptop")
        limited.stores = [name]
        #expect(throws: ServerError.self) { try table.add(limited) }
    }

    @Test(
        "a device name is one printable line of at most 64 bytes",
        arguments: [
            "", " a", "a ", "a\nb", "a\u{7}", "a\u{202E}b", String(repeating: "ä", count: 33),
        ])
    func deviceNames(name: String) {
        #expect(!Device.isValidName(name))
        #expect(Device.isValidName("Bjørn's MacBook 日本 \u{1F4BB}"))
    }

    @Test("a running server notices added, renamed and removed devices")
    func reload() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        let registry = try DeviceRegistry(file, logger: Logger(label: "test"))
        let device = device("laptop")
        #expect(registry.authenticate(device.tokenSHA256, now: 1) == nil)
        try file.change { table throws(ServerError) in try table.add(device) }
        #expect(registry.authenticate(device.tokenSHA256, now: 2) == device)
        #expect(registry.presence(of: "1").lastSeen == 2)
        try file.change { table throws(ServerError) in
            _ = try table.rename("laptop", account: nil, to: "desk")
        }
        #expect(registry.isCurrent(device))
        try file.change { table throws(ServerError) in _ = try table.remove("1", account: nil) }
        #expect(!registry.isCurrent(device))
        #expect(registry.authenticate(device.tokenSHA256, now: 3) == nil)
    }

    @Test("devices.json is readable by its owner only")
    func mode() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        try file.change { table throws(ServerError) in try table.add(device("laptop")) }
        #expect(try file.file.read(byteLimit: 10_000)?.status.permissions == 0o600)
    }
}
