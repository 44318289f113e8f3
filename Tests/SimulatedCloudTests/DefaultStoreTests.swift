import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

/// Code that uses nothing but `NSUbiquitousKeyValueStore.default` and `NotificationCenter.default`.
private final class Appearance: Sendable {
    static let captured = NSUbiquitousKeyValueStore.default
    let heard = Mutex<[String?]>([])
    private let center: NotificationCenter

    init(center: NotificationCenter = .default) { self.center = center }

    var theme: String? {
        get { NSUbiquitousKeyValueStore.default.string(forKey: "theme") }
        set { Self.captured.set(newValue, forKey: "theme") }
    }

    func observe(object: NSUbiquitousKeyValueStore? = nil) -> any NSObjectProtocol {
        center.addObserver(
            forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: object, queue: nil
        ) { [weak self] _ in
            guard let self else { return }
            heard.withLock { $0.append(theme) }
        }
    }
}

/// The user's own default store, in a directory that nothing has created yet. For a process of its own.
private struct UserStore {
    private let directory = FileManager.default.temporaryDirectory.path + "/\(UUID())"

    init() {
        NSUbiquitousKeyValueStore.setDefaultConfiguration(StoreConfiguration(directory: directory))
    }

    var exists: Bool { FileManager.default.fileExists(atPath: directory) }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// Serialized, because its observers share `NotificationCenter.default`.
@Suite("The default store of a simulated device", .serialized, .timeLimit(.minutes(5)))
struct DefaultStoreTests {
    @Test("code with .default, also captured before, uses the device's store")
    func uses() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let appearance = Appearance()
        try await cloud.withDefault(phone) {
            appearance.theme = "dark"
            #expect(await Task { appearance.theme }.value == "dark")
            try await cloud.settle()
        }
        #expect(mac.store.string(forKey: "theme") == "dark")
        try phone.restart(after: .kill)
        cloud.withDefault(phone) { #expect(appearance.theme == "dark") }
        cloud.withDefault(mac) { appearance.theme = "light" }
        #expect(mac.store.string(forKey: "theme") == "light")
    }

    @Test("observers with object nil or .default hear the default device only, and read its store")
    func observers() async throws {
        let cloud = SimulatedCloud(seed: 2)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let (all, own) = (Appearance(), Appearance())
        var tokens: [any NSObjectProtocol] = []
        try await cloud.withDefault(phone) {
            tokens = [all.observe(), own.observe(object: .default)]
            try await cloud.settle()
        }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.notifications.count == 1)
        #expect(all.heard.withLock { $0 } == [] && own.heard.withLock { $0 } == [])
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        #expect(all.heard.withLock { $0 } == ["light"])
        #expect(own.heard.withLock { $0 } == ["light"])
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    @Test("each device has a center of its own")
    func centers() async throws {
        let cloud = SimulatedCloud(seed: 3)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let onPhone = Appearance(center: phone.notificationCenter)
        let onMac = Appearance(center: mac.notificationCenter)
        let tokens = [onPhone.observe(), onMac.observe()]
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(onPhone.heard.withLock { $0 } == [])
        #expect(onMac.heard.withLock { $0 } == ["dark"])
        withExtendedLifetime(tokens) {}
    }

    @Test("the identity token is that of the default device's account")
    func identityToken() async throws {
        let cloud = SimulatedCloud(seed: 4)
        let phone = try cloud.device("phone")
        func token() -> (any NSCoding & NSCopying & NSObjectProtocol)? {
            cloud.withDefault(phone) { FileManager.default.ubiquityIdentityToken }
        }
        let first = try #require(token())
        #expect(first.isEqual(token()))
        let changes = Mutex(0)
        let observation = phone.notificationCenter.addObserver(
            forName: .NSUbiquityIdentityDidChange, object: nil, queue: nil
        ) { _ in changes.withLock { $0 += 1 } }
        try phone.changeAccount(to: "family")
        try await cloud.settle()
        #expect(changes.withLock { $0 } == 1)
        #expect(token() != nil && !first.isEqual(token()))
        try phone.changeAccount(to: nil)
        #expect(token() == nil)
        try phone.changeAccount(to: SimulatedCloud.defaultAccount)
        #expect(first.isEqual(token()))
        withExtendedLifetime(observation) {}
    }

    @Test("a store opened with a device's configuration is another process of the device")
    func configuration() async throws {
        let cloud = SimulatedCloud(seed: 5)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let store = try UbiquitousKeyValueStore(
            configuration: phone.configuration(forAccount: SimulatedCloud.defaultAccount))
        let widget = try UbiquitousKeyValueStore(configuration: store.configuration)
        store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect(widget.string(forKey: "theme") == "dark")
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(!FileManager.default.fileExists(atPath: "/phone"))
        var other = phone.configuration(forAccount: SimulatedCloud.defaultAccount)
        other.storeName = "other"
        #expect(try UbiquitousKeyValueStore(configuration: other).string(forKey: "theme") == nil)
        store.close()
        try phone.changeAccount(to: "family")
        #expect(phone.store.string(forKey: "theme") == nil)
    }

    @Test("the default device's other processes do not notify on behalf of .default")
    func otherProcesses() async throws {
        let cloud = SimulatedCloud(seed: 8)
        let phone = try cloud.device("phone")
        let widget = try phone.process("widget")
        let app = Appearance()
        let token = app.observe(object: .default)
        try await cloud.withDefault(phone) { try await cloud.settle() }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(widget.notifications.count == 1)
        #expect(app.heard.withLock { $0 } == [])
        NotificationCenter.default.removeObserver(token)
    }

    @Test("a default store that is configured for a device never touches the real disk")
    func defaultConfiguration() async {
        await #expect(processExitsWith: .success) {
            let cloud = SimulatedCloud(seed: 6)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            NSUbiquitousKeyValueStore.setDefaultConfiguration(
                phone.configuration(forAccount: SimulatedCloud.defaultAccount))
            NSUbiquitousKeyValueStore.default.set("dark", forKey: "theme")
            try await cloud.settle()
            exit(
                mac.store.string(forKey: "theme") == "dark"
                    && !FileManager.default.fileExists(atPath: "/phone") ? 0 : 1)
        }
    }

    @Test("observers on the main queue and detached tasks use the device, and never the user's store")
    func otherQueues() async {
        await #expect(processExitsWith: .success) {
            let own = UserStore()
            defer { own.remove() }
            let cloud = SimulatedCloud(seed: 9)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            let heard = Mutex<[String?]>([])
            let token = NotificationCenter.default.addObserver(
                forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: nil, queue: .main
            ) { _ in
                let store = NSUbiquitousKeyValueStore.default
                heard.withLock { $0.append(store.string(forKey: "theme")) }
                store.set("heard", forKey: "answer")
            }
            try await cloud.withDefault(phone) {
                try await cloud.settle()
                mac.store.set("dark", forKey: "theme")
                try await cloud.settle()
                await Task.detached { NSUbiquitousKeyValueStore.default.set(1, forKey: "count") }.value
                try await cloud.settle()
            }
            #expect(heard.withLock { $0 } == ["dark"])
            #expect(mac.store.string(forKey: "answer") == "heard")
            #expect(mac.store.longLong(forKey: "count") == 1)
            // The device is still the one that posts on behalf of .default.
            mac.store.set("light", forKey: "theme")
            try await cloud.settle()
            #expect(heard.withLock { $0 } == ["dark", "light"])
            #expect(!own.exists)
            NotificationCenter.default.removeObserver(token)
            NSUbiquitousKeyValueStore.default.set("mine", forKey: "theme")
            #expect(own.exists)
            #expect(phone.store.string(forKey: "theme") == "light")
        }
    }

    @Test("an observer on the main queue reads the store of the device that notifies it")
    func notifyingDevice() async {
        await #expect(processExitsWith: .success) {
            let own = UserStore()
            defer { own.remove() }
            let cloud = SimulatedCloud(seed: 10)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            let heard = Mutex<[ReplicaID?]>([])
            let token = mac.notificationCenter.addObserver(
                forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: nil,
                queue: .main
            ) { _ in
                heard.withLock {
                    $0.append(NSUbiquitousKeyValueStore.default.status.replica)
                }
            }
            try await cloud.settle()
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
            try await cloud.withDefault(phone) {
                phone.store.set("light", forKey: "theme")
                try await cloud.settle()
            }
            let replica = mac.store.status.replica
            #expect(heard.withLock { $0 } == [replica, replica])
            #expect(!own.exists)
            withExtendedLifetime(token) {}
        }
    }

    @Test("outside their tasks several default devices stop the program, which names them")
    func severalDevices() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let own = UserStore()
            let cloud = SimulatedCloud(seed: 11)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            try await cloud.withDefault(phone) {
                // One inside the other is the one.
                await cloud.withDefault(mac) {
                    await Task.detached { NSUbiquitousKeyValueStore.default.set(1, forKey: "a") }.value
                }
                #expect(mac.store.longLong(forKey: "a") == 1)
                await Task.detached {
                    await cloud.withDefault(mac) {
                        #expect(NSUbiquitousKeyValueStore.default.longLong(forKey: "a") == 1)
                        await Task.detached {
                            own.remove()
                            NSUbiquitousKeyValueStore.default.set(2, forKey: "a")
                        }.value
                    }
                }.value
                try await cloud.settle()
            }
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("several simulated devices: mac, phone"), "\(message)")
    }

    @Test("a store of the real disk does not take a simulated account")
    func realStore() throws {
        let cloud = SimulatedCloud(seed: 7)
        let phone = try cloud.device("phone")
        let directory = FileManager.default.temporaryDirectory.path + "/\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory))
        #expect(throws: StoreError.self) {
            try store.changeAccount(to: phone.configuration(forAccount: "family"))
        }
    }
}
