import Foundation
import KVStoreCore
import Logging
import ServerTestSupport
import TestSupport
import Testing

@testable import KVStoreServer

@Suite("Devices")
struct DeviceTests {
    private func device(_ name: String, id: String = "1", account: String = "default") -> Device {
        Device(
            id: id, name: name, account: account, scopes: [.read], stores: nil, created: 5,
            digest: TokenDigest(of: name + id))
    }

    @Test("a token has 256 bits, a prefix, and is not what is stored")
    func token() {
        var random = SplitMix64(seed: 3)
        let token = DeviceToken(using: &random)
        let other = DeviceToken(using: &random)
        #expect(token.text.hasPrefix("ubq_"))
        #expect(token.text.utf8.count == 4 + 43)
        #expect(token.text != other.text)
        #expect(token.digest == TokenDigest(of: token.text))
        #expect(token.digest != other.digest)
        #expect(!token.digest.hexadecimal.contains(token.text.dropFirst(4)))
        #expect(TokenDigest(hexadecimal: token.digest.hexadecimal) == token.digest)
    }

    @Test(
        "only what can be a token is looked up",
        arguments: ["", "ubq", "bearer", "ubq_" + String(repeating: "a", count: 200)])
    func notTokens(text: String) {
        #expect(DeviceToken(presented: text) == nil)
    }

    @Test("the file gives back what was written, and holds no token")
    func codec() throws {
        var table = try DeviceTable(instance: "i")
        var limited = device("display", id: "2", account: "work")
        limited.stores = ["usage"]
        try table.add(device("laptop"))
        try table.add(limited)
        let data = DeviceTableCodec.encode(table)
        #expect(try DeviceTableCodec.decode(data) == table)
    }

    @Test(
        "a file that is not ours is refused",
        arguments: ["", "[]", #"{"version":2,"instance":"i","devices":[]}"#])
    func badFile(text: String) {
        #expect(throws: DeviceFileFault.self) {
            _ = try DeviceTableCodec.decode(Data(text.utf8))
        }
    }

    @Test(
        "names are unique in an account, and a name that two accounts have is not enough to remove")
    func names() throws {
        var table = try DeviceTable(instance: "i")
        try table.add(device("laptop", id: "1"))
        #expect(throws: DeviceError.nameTaken("laptop")) {
            try table.add(device("laptop", id: "2"))
        }
        try table.add(device("laptop", id: "2", account: "work"))
        #expect(throws: DeviceError.ambiguous("laptop")) {
            _ = try table.remove("laptop", account: nil)
        }
        #expect(try table.remove("laptop", account: "work").id == "2")
        #expect(try table.rename("1", account: nil, to: "desk").name == "desk")
        #expect(throws: DeviceError.unknown("laptop")) {
            _ = try table.remove("laptop", account: nil)
        }
    }

    @Test(
        "names that could become paths or break a line are refused",
        arguments: ["", ".", "..", "../x", "a/b", ".hidden", "a b", "ä", "a\u{0}", "a%2Fb"])
    func storeNames(name: String) {
        #expect(!StoreConfiguration.isValidStoreName(name))
        #expect(!Device.isValidAccount(name))
    }

    @Test("a running daemon notices devices that are added and removed, without being told")
    func reload() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        let directory = try DeviceRegistry(file, logger: Logger(label: "test"))
        let device = device("laptop")
        #expect(directory.authenticate(device.digest, now: 1) == nil)
        try file.change { table throws(DeviceError) in try table.add(device) }
        #expect(directory.authenticate(device.digest, now: 2) == device)
        #expect(directory.presence(of: "1").lastSeen == 2)
        try file.change { table throws(DeviceError) in
            _ = try table.rename("laptop", account: nil, to: "desk")
        }
        #expect(directory.isCurrent(device))
        try file.change { table throws(DeviceError) in _ = try table.remove("1", account: nil) }
        #expect(!directory.isCurrent(device))
        #expect(directory.authenticate(device.digest, now: 3) == nil)
    }

    @Test("a file that cannot be read leaves the devices as they were")
    func brokenFile() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        let device = device("laptop")
        try file.change { table throws(DeviceError) in try table.add(device) }
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let directory = try DeviceRegistry(file, logger: logger)
        try Data("{".utf8).write(to: URL(filePath: file.path))
        #expect(directory.authenticate(device.digest, now: 1) == device)
    }

    @Test("the file can be read by its owner only")
    func mode() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        try file.change { table throws(DeviceError) in try table.add(device("laptop")) }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
