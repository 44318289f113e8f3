import Foundation
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Accounts")
struct AccountTests {
    private func device(_ name: String, account: String) -> Device {
        Device(
            id: name, name: name, account: account, scopes: [.read], stores: nil, created: 5,
            tokenSHA256: TokenDigest(of: name))
    }

    private func fails(
        with text: String, _ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: ServerError.self, sourceLocation: sourceLocation) { try body() }
        #expect(
            error?.description.contains(text) == true, "\(String(describing: error))",
            sourceLocation: sourceLocation)
    }

    @Test("the file preserves accounts, and one of an earlier version has none but works")
    func codec() throws {
        var table = DeviceTable(instance: "i")
        #expect(!String(decoding: table.json, as: UTF8.self).contains("accounts"))
        try table.add(device("laptop", account: "work"))
        #expect(Set(table.presentAccounts.keys) == ["default", "work"])
        #expect(try DeviceTable(json: table.json, path: "p") == table)
        try table.add(Account(name: "family", created: 5, byteLimit: 100, storeLimit: 2))
        try table.beginRemoval(ofAccount: "work", now: 7)
        let read = try DeviceTable(json: table.json, path: "p")
        #expect(read == table)
        #expect(read.account("family")?.byteLimit == 100 && read.account("work")?.removed == 7)
        #expect(Set(read.presentAccounts.keys) == ["default", "family"])
    }

    @Test(
        "a file with an impossible account is unreadable, and the error names the value",
        arguments: [
            (#"{"name":"../x","created":1}"#, "'../x'"),
            (#"{"name":"a","created":1,"byteLimit":0}"#, "0 bytes for the account 'a'"),
            (#"{"name":"a","created":1,"storeLimit":-3}"#, "-3 stores for the account 'a'"),
            (#"{"name":"a","created":1},{"name":"a","created":2}"#, "two accounts have the name 'a'"),
            (#"{"name":"default","created":1,"removed":2}"#, "'default' cannot be removed"),
        ])
    func invalid(accounts: String, text: String) {
        let json = #"{"version":1,"instance":"i","devices":[],"accounts":[\#(accounts)]}"#
        fails(with: text) { _ = try DeviceTable(json: Data(json.utf8), path: "p") }
    }

    @Test("an account is added once, and default never")
    func add() throws {
        var table = DeviceTable(instance: "i")
        try table.add(device("laptop", account: "work"))
        try table.add(Account(name: "family", created: 5))
        for name in ["family", "work", "default"] {
            fails(with: "'\(name)' already exists") {
                try table.add(Account(name: name, created: 5))
            }
        }
        for name in ["", "a b", ".a", "../x"] {
            fails(with: "'\(name)'") { try table.add(Account(name: name, created: 5)) }
        }
        for number in 1..<DeviceTable.accountCount {
            try table.add(Account(name: "n\(number)", created: 5))
        }
        fails(with: "1000 accounts") { try table.add(Account(name: "more", created: 5)) }
        try table.beginRemoval(ofAccount: "n1", now: 6)
        try table.add(Account(name: "more", created: 5))
        #expect(try DeviceTable(json: table.json, path: "p") == table)
    }

    @Test("limits are changed one by one, and an account without an entry gets one")
    func limit() throws {
        var table = DeviceTable(instance: "i")
        _ = try table.limitAccount("default", now: 5) { $0.byteLimit = 10 }
        let both = try table.limitAccount("default", now: 6) { $0.storeLimit = 3 }
        #expect(both.byteLimit == 10 && both.storeLimit == 3 && both.created == 5)
        let one = try table.limitAccount("default", now: 7) { $0.byteLimit = nil }
        #expect(one.byteLimit == nil && one.storeLimit == 3)
        fails(with: "kvsd account add nobody") {
            _ = try table.limitAccount("nobody", now: 5) { $0.byteLimit = 10 }
        }
        fails(with: "0 bytes") {
            _ = try table.limitAccount("default", now: 5) { $0.byteLimit = 0 }
        }
        #expect(table.account("default")?.byteLimit == nil)
    }

    @Test("a device or pairing for an account that does not exist names the command that adds it")
    func missing() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        let permissions = DevicePermissions(account: "family")
        func add() throws { _ = try file.add("laptop", permissions) }
        func check() throws { try file.check("laptop", permissions) }
        func pair() throws { _ = try file.addPairing(name: nil, permissions) }
        for body in [add, check, pair] { fails(with: "run 'kvsd account add family'", body) }
        #expect(try file.devices.isEmpty)
        try file.addAccount("family")
        for body in [check, add, pair] { try body() }
        try file.beginRemoval(ofAccount: "family")
        #expect(try file.devices.isEmpty)
        for body in [add, check, pair] { fails(with: "'family' is being removed", body) }
        fails(with: "'family' is being removed") { try file.addAccount("family") }
        fails(with: "'family' is being removed") {
            _ = try file.limitAccount("family") { $0.byteLimit = 1 }
        }
        try file.finishRemoval(ofAccount: "family")
        fails(with: "run 'kvsd account add family'", add)
        try file.addAccount("family")
        try file.finishRemoval(ofAccount: "family")
        try add()
    }

    @Test("the default account cannot be removed")
    func standard() throws {
        var table = DeviceTable(instance: "i")
        try table.add(device("laptop", account: "default"))
        fails(with: "'default' cannot be removed") {
            try table.beginRemoval(ofAccount: "default", now: 5)
        }
        #expect(table.devices.count == 1 && table.accounts == nil)
    }
}
