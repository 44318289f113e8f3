import Foundation
import KVStore
import KVStoreTesting
import StoreTestSupport
import Testing

@testable import KVStoreSealed

@Suite("Rotations of the content key", .timeLimit(.minutes(5)))
struct RotationTests {
    private let world: SealedWorld

    init() throws { world = try SealedWorld() }

    private func join(_ names: String..., by desk: SealedWorld.Device) async throws -> [SealedWorld.Device] {
        let devices = try names.map { try world.device($0) }
        try await world.cloud.settle()
        for device in devices {
            try device.account.join(words: desk.words(), deviceNamed: device.name)
        }
        try await world.cloud.settle()
        return devices
    }

    /// All devices seal with the same key, and open the same values.
    private func expectUnity(
        _ devices: [SealedWorld.Device], _ comment: Comment, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let contents = try devices.map { try $0.notes.contents() }
        for (device, found) in zip(devices, contents) {
            let status = try device.account.status()
            #expect(
                try status.current?.id == devices[0].account.status().current?.id, comment, sourceLocation: location)
            #expect(status.unknown.isEmpty, comment, sourceLocation: location)
            #expect(found.values == contents[0].values, comment, sourceLocation: location)
            #expect(found.problems.isEmpty, comment, sourceLocation: location)
            for key in found.values.keys {
                #expect(
                    try device.notes.propertyList(forKey: key) == found.values[key], comment, sourceLocation: location)
            }
        }
    }

    @Test(
        "devices that rotate at the same time, offline or not, come to one key, and all read everything",
        arguments: 0..<8 as Range<UInt64>)
    func atOnce(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (desk, laptop) = try await world.pair()
        let devices = [desk, laptop] + (try await join("phone", "tablet", by: desk))
        for round in 0..<4 {
            for device in devices { device.goOffline(Bool.random(using: &random)) }
            for device in devices {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    try device.account.rotateKey()
                }
                try device.write("\(device.name) \(round)", device.name)
                try device.write("\(device.name) \(round)", "shared")
                if Bool.random(using: &random) { try device.notes.reseal() }
                if Bool.random(using: &random) { try await world.cloud.settle() }
            }
            for device in devices { device.goOffline(false) }
            try await world.cloud.settle()
            try await world.meet(devices)
            try expectUnity(devices, "seed \(seed), round \(round)")
        }
        // A new device gets by words what all others have.
        let new = try await join("new", by: laptop)
        try await world.meet(devices + new)
        try expectUnity(devices + new, "seed \(seed)")
    }

    @Test("a device that joined just before a rotation that did not know of it gets the key too")
    func joinedMeanwhile() async throws {
        let (desk, laptop) = try await world.pair()
        desk.goOffline(true)
        let phone = try await join("phone", by: laptop)
        try desk.account.rotateKey()
        desk.goOffline(false)
        try await world.cloud.settle()
        try await world.meet([desk, laptop] + phone)
        try expectUnity([desk, laptop] + phone, "")
    }

    @Test("a rotation that leaves a device out prevails over one at the same time that does not")
    func leavingOutAtOnce() async throws {
        let (desk, laptop) = try await world.pair()
        let phone = try await join("phone", by: desk)[0]
        try await world.meet([desk, laptop, phone])
        let id = try #require(try phone.account.refresh()?.device)
        for isFirst in [true, false] {
            for device in [desk, laptop] { device.goOffline(true) }
            if isFirst { try desk.account.rotateKey(without: [id]) }
            try laptop.account.rotateKey()
            if !isFirst { try desk.account.rotateKey() }
            for device in [desk, laptop] { device.goOffline(false) }
            try await world.cloud.settle()
            try await world.meet([desk, laptop, phone])
            try expectUnity([desk, laptop], "\(isFirst)")
            let current = try #require(try desk.account.status().current?.id)
            #expect(try phone.account.refresh()?[current] == nil)
        }
        try laptop.write("secret", "note")
        try await world.cloud.settle()
        #expect(throws: StoreError.self) { try phone.read("note") }
        // By words it becomes one of them again, and stays it.
        try phone.account.join(words: desk.words(), deviceNamed: "phone")
        try await world.cloud.settle()
        try await world.meet([desk, laptop, phone])
        try laptop.account.rotateKey()
        try await world.cloud.settle()
        try await world.meet([desk, laptop, phone])
        try expectUnity([desk, laptop, phone], "joined again")
        #expect(try phone.read("note") == "secret")
    }

    @Test("two devices that leave out different devices at once read each other, and the next rotation leaves out both")
    func leavingOutTwo() async throws {
        let (desk, laptop) = try await world.pair()
        let others = try await join("phone", "tablet", by: desk)
        try await world.meet([desk, laptop] + others)
        let ids = try others.map { try #require(try $0.account.refresh()?.device) }
        for device in [desk, laptop] { device.goOffline(true) }
        try desk.account.rotateKey(without: [ids[0]])
        try laptop.account.rotateKey(without: [ids[1]])
        try desk.write("of the desk", "desk")
        try laptop.write("of the laptop", "laptop")
        for device in [desk, laptop] { device.goOffline(false) }
        try await world.cloud.settle()
        try await world.meet([desk, laptop])
        for device in [desk, laptop] {
            #expect(try device.read("desk") == "of the desk")
            #expect(try device.read("laptop") == "of the laptop")
        }
        try laptop.account.rotateKey()
        try await world.cloud.settle()
        try await world.meet([desk, laptop] + others)
        try expectUnity([desk, laptop], "")
        let current = try #require(try desk.account.status().current?.id)
        for device in others { #expect(try device.account.refresh()?[current] == nil) }
    }

    @Test("a removed device and the daemon together do not bring a key of theirs into use, whatever they announce")
    func removedDevice() async throws {
        let (desk, laptop) = try await world.pair()
        let phone = try await join("phone", by: desk)[0]
        try await world.meet([desk, laptop, phone])
        let removed = try #require(try phone.account.refresh())
        try desk.account.rotateKey(without: [removed.device])
        try await world.cloud.settle()
        try await world.meet([desk, laptop])
        let current = try #require(try desk.account.status().current?.id)
        let others = Set(removed.members.keys)
        let deskID = try #require(try desk.account.refresh()?.device)
        for left: Set<SealingDeviceID> in [[], [removed.device], [deskID], others] {
            let (id, forged) = removed.announceKey(removing: left, now: 1 << 47)
            try phone.keys.store.encode(forged, forKey: "key/\(id)")
            try await world.cloud.settle()
            try await world.meet([desk, laptop])
            for device in [desk, laptop] {
                #expect(try device.account.status().current?.id == current)
                #expect(try device.account.status().devices.allSatisfy { $0.name != "phone" })
            }
        }
        try laptop.write("secret", "note")
        // They may leave others out of the next rotation, who notice: it is never a reason to give them a key.
        try laptop.account.rotateKey()
        try laptop.notes.reseal()
        try await world.cloud.settle()
        try await world.meet([desk, laptop])
        let next = try #require(try laptop.account.status().current?.id)
        #expect(next != current)
        #expect(try phone.account.refresh()?[next] == nil)
        let error = #expect(throws: StoreError.self) { try desk.read("note") }
        #expect(error?.code == .noContentKey)
        try desk.account.join(words: laptop.words(), deviceNamed: "desk")
        try await world.cloud.settle()
        try await world.meet([desk, laptop])
        #expect(try desk.account.status().current?.id == laptop.account.status().current?.id)
        #expect(try desk.read("note") == "secret" && laptop.read("note") == "secret")
        #expect(throws: StoreError.self) { try phone.read("note") }
    }

    @Test("the keys' store does not grow with the number of rotations, and a device that was away follows")
    func many() async throws {
        let (desk, laptop) = try await world.pair()
        let away = try await join("away", by: desk)[0]
        try await world.meet([desk, laptop, away])
        away.goOffline(true)
        try desk.write("first", "note")
        var sizes: [Int] = []
        for count in 1...160 {
            let device = count.isMultiple(of: 3) ? laptop : desk
            try device.account.rotateKey()
            try device.notes.reseal()
            if count.isMultiple(of: 8) { try await world.cloud.settle() }
            if count == 100 {
                away.goOffline(false)
                try await world.cloud.settle()
                #expect(try away.read("note") == "first")
                away.goOffline(true)
            }
            sizes.append(device.keys.store.status.usedByteCount)
        }
        away.goOffline(false)
        try await world.cloud.settle()
        try await world.meet([desk, laptop, away])
        #expect(desk.keys.store.keys.count { $0.hasPrefix("key/") } < 8)
        #expect(desk.keys.store.keys.count { $0.hasPrefix("former/") } < 8)
        #expect(sizes.max()! < 256_000)
        for device in [desk, laptop, away] { #expect(try device.read("note") == "first") }
    }

    @Test("values stay readable while the keys' store has no room for what a device would publish")
    func full() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("note", "note")
        let daemon = try world.operatorStore(SealedAccount.storeName)
        try await world.cloud.settle()
        let device = try #require(try laptop.account.refresh()?.device)
        daemon.removeObject(forKey: "device/\(device)")
        var size = 1 << 19
        var index = 0
        while size > 16 {
            if (try? daemon.write(.data(Data(count: size)), forKey: "junk \(index)")) == nil {
                size /= 2
            }
            index += 1
        }
        try await world.cloud.settle()
        #expect(try laptop.read("note") == "note")
        #expect(try laptop.account.status().current != nil)
        #expect(laptop.keys.store.data(forKey: "device/\(device)") == nil)
        // A change says what is in the way.
        let error = #expect(throws: StoreError.self) { try laptop.account.rotateKey() }
        #expect(error?.code == .quotaExceeded)
    }
}
