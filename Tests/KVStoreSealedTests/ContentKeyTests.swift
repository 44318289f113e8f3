import Foundation
import KVStore
import KVStoreTesting
import Testing

@testable import KVStoreSealed

@Suite("Content keys and the devices that have them", .timeLimit(.minutes(3)))
struct ContentKeyTests {
    private let world: SealedWorld

    init() throws { world = try SealedWorld() }

    @Test("both devices show the same code, and know each other")
    func joining() async throws {
        let (desk, laptop) = try await world.pair()
        let (here, there) = (try desk.account.status(), try laptop.account.status())
        #expect(here.current?.comparisonCode == there.current?.comparisonCode)
        #expect(here.current?.creator == "desk" && here.unknown.isEmpty)
        #expect(here.devices.map(\.name) == ["desk", "laptop"])
        #expect(here.devices.filter(\.isThis).map(\.name) == ["desk"])
        #expect(there.devices.map(\.name) == ["desk", "laptop"])
    }

    @Test("a second device does not create a key of its own by mistake")
    func creatingTwice() async throws {
        let (desk, _) = try await world.pair()
        let tablet = try world.device("tablet")
        try await world.cloud.settle()
        for account in [tablet.account, desk.account] {
            let error = #expect(throws: StoreError.self) { try account.createKey(deviceNamed: "x") }
            #expect(error?.code == .refused)
        }
    }

    @Test(
        "after the key has changed, the others adopt the new one, and the one left out reads only what was sealed before"
    ) func changing() async throws {
        let (desk, laptop) = try await world.pair()
        let lost = try world.device("phone")
        try await world.cloud.settle()
        try lost.account.join(words: desk.words(), deviceNamed: "phone")
        try desk.write("before", "old")
        try await world.cloud.settle()
        let phone = try #require(try desk.account.status().devices.first { $0.name == "phone" })
        try desk.account.rotateKey(without: [phone.id])
        try desk.write("after", "new")
        try await world.cloud.settle()
        #expect(try laptop.read("new") == "after" && laptop.read("old") == "before")
        // What it can still open may be out of date, so it is not passed off as the value.
        #expect(try lost.notes.contents().values["old"] == .string("before"))
        for key in ["old", "new", "none"] {
            let error = #expect(throws: StoreError.self) { try lost.read(key) }
            #expect(error?.code == .noContentKey)
        }
        #expect(try lost.notes.contents().problems.map(\.code) == [.noContentKey])
        #expect(try lost.account.status().unknown.map(\.creator) == ["desk"])
        #expect(try laptop.account.status().devices.map(\.name) == ["desk", "laptop"])
        // Nor the next key, by whoever changes it.
        try laptop.account.rotateKey()
        try laptop.write("later", "new")
        try await world.cloud.settle()
        #expect(try desk.read("new") == "later")
        #expect(throws: StoreError.self) { try lost.read("new") }
    }

    @Test("values are sealed again with the new key, once each")
    func resealing() async throws {
        let (desk, laptop) = try await world.pair()
        for number in 0..<20 { try desk.write("\(number)", "note \(number)") }
        try await world.cloud.settle()
        try desk.account.rotateKey()
        #expect(try desk.notes.reseal() == 20)
        #expect(try desk.notes.reseal() == 0)
        try await world.cloud.settle()
        #expect(laptop.values.store.keys.count == 20)
        let contents = try laptop.notes.contents()
        #expect(contents.values.count == 20 && contents.problems.isEmpty)
    }

    @Test("a device that was offline while the key changed writes with the old one, and nothing is lost")
    func changingWhileOffline() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("shared", "note")
        try await world.cloud.settle()
        laptop.goOffline(true)
        try laptop.write("from the train", "note")
        try laptop.write("also", "other")
        try desk.account.rotateKey()
        try desk.notes.reseal()
        try await world.cloud.settle()
        try await world.cloud.settle()
        laptop.goOffline(false)
        try await world.cloud.settle()
        for device in [desk, laptop] {
            #expect(try device.read("other") == "also")
            #expect(try device.notes.contents().problems.isEmpty)
        }
        #expect(try desk.read("note") == laptop.read("note"))
        try laptop.write("home", "note")
        try await world.cloud.settle()
        #expect(try desk.read("note") == "home")
        #expect(try desk.notes.reseal() == 1)
    }

    @Test("two devices that created a key at once are united by the words of one")
    func uniting() async throws {
        let (desk, laptop) = (try world.device("desk"), try world.device("laptop"))
        try await world.cloud.settle()
        for device in [desk, laptop] { device.goOffline(true) }
        try desk.account.createKey(deviceNamed: "desk")
        try laptop.account.createKey(deviceNamed: "laptop")
        try desk.write("of the desk", "desk")
        try laptop.write("of the laptop", "laptop")
        for device in [desk, laptop] { device.goOffline(false) }
        try await world.cloud.settle()
        #expect(try desk.account.status().unknown.map(\.creator) == ["laptop"])
        #expect(try laptop.account.status().unknown.map(\.creator) == ["desk"])
        try laptop.account.join(words: desk.words(), deviceNamed: "laptop")
        try await world.cloud.settle()
        for device in [desk, laptop] {
            let contents = try device.notes.contents()
            #expect(contents.values.count == 2 && contents.problems.isEmpty)
            #expect(try device.account.status().unknown.isEmpty)
            #expect(try device.account.status().devices.count == 2)
        }
        #expect(try desk.account.status().current?.id == laptop.account.status().current?.id)
    }

    @Test("a daemon that announces a key of its own, or changes who gets one, is not believed")
    func forgedAnnouncements() async throws {
        let (desk, laptop) = try await world.pair()
        let daemon = try world.operatorStore(SealedAccount.storeName)
        try await world.cloud.settle()
        let key = try #require(try laptop.account.status().current?.id)
        // For the laptop's public key, but without a proof by the present key.
        let forged = ContentKey.random(created: 1 << 47)
        var announcement = KeyAnnouncement(of: forged, by: SealingDeviceID(rawValue: 1), named: "desk")
        let ring = try #require(try laptop.account.refresh())
        announcement.envelopes[ring.device.description] = KeyEnvelope.seal(
            forged, to: ring.description.publicKey, of: ring.device)
        announcement.authenticate(of: forged.id, with: [forged])
        announcement.proofs[key.description] = Data(count: 32)
        try daemon.encode(announcement, forKey: "key/\(forged.id)")
        try await world.cloud.settle()
        #expect(try laptop.account.status().current?.id == key)
        #expect(try laptop.account.status().unknown.map(\.id) == [forged.id])
        // A real change from which the daemon has removed the laptop's envelope: nobody else's is affected.
        try desk.account.rotateKey()
        try await world.cloud.settle()
        let next = try #require(try desk.account.status().current?.id)
        var changed = try #require(try daemon.decode(KeyAnnouncement.self, forKey: "key/\(next)"))
        changed.envelopes[ring.device.description] = changed.envelopes[ring.device.description]?.dropLast()
        try daemon.encode(changed, forKey: "key/\(next)")
        daemon.set("no announcement", forKey: "key/0123456789abcdef")
        daemon.set(Data(count: 9), forKey: "device/0123456789abcdef")
        try await world.cloud.settle()
        #expect(try laptop.account.refresh()?.current?.id == next || laptop.account.status().current?.id == key)
        #expect(try desk.account.status().devices.count == 2)
    }

    @Test("a daemon that has changed when a key was created cannot keep a new device from the next one")
    func forgedCreation() async throws {
        let (desk, _) = try await world.pair()
        let daemon = try world.operatorStore(SealedAccount.storeName)
        let tablet = try world.device("tablet")
        try await world.cloud.settle()
        let id = try #require(try desk.account.status().current?.id)
        var announcement = try #require(try daemon.decode(KeyAnnouncement.self, forKey: "key/\(id)"))
        announcement.created = .max / 2
        try daemon.encode(announcement, forKey: "key/\(id)")
        try await world.cloud.settle()
        let error = #expect(throws: StoreError.self) {
            try tablet.account.join(words: desk.words(), deviceNamed: "tablet")
        }
        #expect(error?.code == .notAuthentic)
        try desk.account.rotateKey()
        try await world.cloud.settle()
        try tablet.account.join(words: desk.words(), deviceNamed: "tablet")
    }

    @Test("a device that was removed cannot hand on a key by the one that it still has")
    func removedDevice() async throws {
        let (desk, laptop) = try await world.pair()
        let removed = try #require(try laptop.account.refresh())
        try desk.account.rotateKey(without: [removed.device])
        try await world.cloud.settle()
        let current = try #require(try desk.account.status().current?.id)
        let (id, forged) = removed.announceKey(removing: [], now: 1 << 47)
        try laptop.keys.store.encode(forged, forKey: "key/\(id)")
        try await world.cloud.settle()
        #expect(try desk.account.status().current?.id == current)
        #expect(try desk.account.status().devices.map(\.name) == ["desk"])
    }

    @Test("words of a key that has been replaced are refused, with the device that replaced it")
    func replacedWords() async throws {
        let (desk, _) = try await world.pair()
        let words = try desk.words()
        try desk.account.rotateKey()
        let tablet = try world.device("tablet")
        try await world.cloud.settle()
        let error = #expect(throws: StoreError.self) {
            try tablet.account.join(words: words, deviceNamed: "tablet")
        }
        #expect(error?.reason.hasPrefix("desk has replaced this key") == true)
        try tablet.account.join(words: desk.words(), deviceNamed: "tablet")
        #expect(try tablet.account.status().formerKeyCount == 1)
    }

    @Test("the words of a recovery sheet open everything after all devices are lost, with earlier keys")
    func recovering() async throws {
        let (desk, _) = try await world.pair()
        try desk.write("before", "old")
        try desk.account.rotateKey()
        try desk.write("after", "new")
        let words = try desk.words()
        try await world.cloud.settle()
        let tablet = try world.device("new tablet")
        try await world.cloud.settle()
        try tablet.account.join(words: words, deviceNamed: "tablet")
        #expect(try tablet.notes.contents().values.count == 2)
        // The daemon has lost the keys' store too.
        let other = try SealedWorld(seed: 7).device("other")
        #expect(throws: StoreError.self) { try other.account.join(words: words, deviceNamed: "x") }
        try other.account.join(words: words, deviceNamed: "x", isRestored: true)
        #expect(try other.words() == words)
    }

    @Test(
        "words with a mistake are refused without repeating them, with the position",
        arguments: [
            ("abandon", "a key has 12 words, not 1"),
            (String(repeating: "abandon ", count: 11) + "zzzword", "word 12 is not in the list"),
            (String(repeating: "abandon ", count: 12), "one of the words is wrong"),
        ])
    func mistakes(words: String, message: String) throws {
        let error = #expect(throws: StoreError.self) {
            try world.device("desk").account.join(words: words, deviceNamed: "desk")
        }
        #expect(error?.reason.hasPrefix(message) == true)
        #expect(error?.description.contains("zzzword") == false)
    }

    @Test("words are those of BIP-0039, in any case, numbered, and cut after four letters")
    func phrases() throws {
        let zero = Array(repeating: "abandon", count: 11) + ["about"]
        #expect(RecoveryWords.words(of: Data(count: 16)) == zero)
        let secret = Data([0x7f] + Array(repeating: 0x7f, count: 15))
        let legal = "legal winner thank year wave sausage worth useful legal winner thank yellow"
        #expect(RecoveryWords.words(of: secret).joined(separator: " ") == legal)
        let numbered = legal.split(separator: " ").enumerated()
            .map { "\($0 + 1). \($1.prefix(4).uppercased())\n" }.joined()
        #expect(try RecoveryWords.secret(from: numbered) == secret)
        let columns = legal.split(separator: " ").enumerated().reversed().map { "\($0 + 1). \($1)  " }.joined()
        #expect(try RecoveryWords.secret(from: columns) == secret)
        #expect(RecoveryWords.list.count == 2_048 && Set(RecoveryWords.list.map { $0.prefix(4) }).count == 2_048)
    }

    @Test("a keyring that cannot be read is not replaced, and its error quotes nothing of it")
    func damagedKeyring() async throws {
        let (desk, _) = try await world.pair()
        let path = world.path(of: "desk", "keyring.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing("\"version\":1", with: "\"version\":9")
            .write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: StoreError.self) { try desk.account.refresh() }
        #expect(error?.code == .damaged && error?.subject == path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\"version\":9"))
    }
}
