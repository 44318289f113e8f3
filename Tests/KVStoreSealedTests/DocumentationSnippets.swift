import Foundation
import KVStore
import KVStoreSealed
import StoreTestSupport
import Testing

@Suite("Snippets: sealed values", .timeLimit(.minutes(3)))
struct SealedSnippets {
    private let print = PrintedLines()

    @Test("a key is created, and a store is sealed with it")
    func sealing() throws {
        try TemporaryDirectory.use { directory in
            let keys = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(
                    directory: directory + "/keys", storeName: SealedAccount.storeName))
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: directory + "/notes", storeName: "notes"))
            defer {
                keys.close()
                store.close()
            }
            let account = SealedAccount(keys)  // the account's store of the name SealedAccount.storeName
            try account.createKey(deviceNamed: "desk")
            let notes = try SealedStore(store, of: account)
            try notes.write(.string("milk"), forKey: "list")
            #expect(store.string(forKey: "list") == nil)
            do {
                let sealed = try SealedStore(store, of: account)
                try sealed.write(.string("only here"), forKey: "secret")
                print(try sealed.contents().values)
            }
            #expect(try notes.contents().values == ["list": .string("milk"), "secret": .string("only here")])
            #expect(print.lines.count == 1 && print.lines[0].contains("only here"))
        }
    }

    @Test("the status names the other devices, and keys that this one lacks")
    func status() async throws {
        let world = try SealedWorld()
        let (desk, _) = try await world.pair()
        let account = desk.account
        let status = try account.status()
        for device in status.devices where !device.isThis { print(device.id, device.name) }
        print(status.unknown.map(\.id))
        #expect(print.lines.count == 2 && print.lines[0].hasSuffix(" laptop") && print.lines[1] == "[]")
    }
}
