import Foundation
import KVStore
import KVStoreTesting
import StoreTestSupport
import Testing

@Suite("Snippets: a simulated cloud and its devices", .timeLimit(.minutes(5)))
struct CloudSnippets {
    private let cloud = SimulatedCloud(seed: 1)
    private let phone: CloudDevice
    private let mac: CloudDevice

    init() throws {
        phone = try cloud.device("phone")
        mac = try cloud.device("mac")
    }

    @Test("a device is offline, without an account, or has another process")
    func devices() async throws {
        try await cloud.settle()
        do {
            let cloud = SimulatedCloud(seed: 2)
            let mac = try cloud.device("mac")
            let phone = try cloud.device("phone")
            phone.isOffline = true
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
            #expect(mac.store.string(forKey: "theme") == nil)
        }
        let visitor = try cloud.device("visitor", .with { $0.account = nil })
        #expect(visitor.accountState == .signedOut)
        do {
            let widget = try phone.process("widget")
            phone.store.set(3, forKey: "unread")
            try await cloud.settle()
            #expect(widget.store.longLong(forKey: "unread") == 3)
        }
        let widget = try phone.process("widget")
        widget.store.set("dark", forKey: "theme")
        try widget.restart()
        #expect(widget.store.string(forKey: "theme") == "dark")
    }

    @Test("an account is left for another one, whose values arrive with the first download")
    func accounts() async throws {
        let print = PrintedLines()
        try await cloud.settle()
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        print(phone.notifications.map(\.keys))
        #expect(print.lines == [#"[["theme"]]"#])
        try phone.changeAccount(to: "family")
        try await cloud.settle()
        #expect(phone.notifications.last?.reason == .accountChange)
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        do {
            let phone = mac
            try phone.changeAccount(to: "family")
            #expect(phone.accountState == .joining)
            try await cloud.run { phone.accountState == .joined }
            #expect(phone.store.string(forKey: "theme") == "dark")
        }
    }

    @Test("messages are held, late, lost, too many or fail")
    func network() async throws {
        try await cloud.settle()
        mac.hold()
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .seconds(5))
        #expect(mac.store.string(forKey: "theme") == nil)
        mac.release()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        phone.store.removeObject(forKey: "theme")
        try await cloud.settle()

        phone.delay = .seconds(5)
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .seconds(1))
        #expect(mac.store.string(forKey: "theme") == nil)  // on its way
        await cloud.advance(by: .seconds(20))
        #expect(mac.store.string(forKey: "theme") == "dark")

        phone.inject(NetworkFault(.drop, of: [.answer], probability: 0.3, for: .seconds(60)))
        phone.inject(NetworkFault(.delay(.seconds(2)), of: [.answer], for: .seconds(60)))
        phone.inject(NetworkFault(.drop, of: [.request], probability: 0.3, seed: 7))
        #expect(phone.faults.map(\.effect) == [.delay(.seconds(5)), .drop, .delay(.seconds(2)), .drop])
        phone.removeFaults()
        phone.throttle = CloudThrottle(requestCount: 2, per: .seconds(60))
        for number in 1...3 {
            phone.store.set(Int64(number), forKey: "count")
            await cloud.advance(by: .seconds(1))
        }
        #expect(mac.store.longLong(forKey: "count") == 2)
        await cloud.advance(by: .seconds(100))
        #expect(mac.store.longLong(forKey: "count") == 3)
    }

    @Test("a decision says which value won where, and an explanation what led to it")
    func decisions() async throws {
        let print = PrintedLines()
        try await cloud.settle()
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        await cloud.advance(by: .seconds(2))
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        let last = try #require(cloud.decisions.last { $0.key == "theme" && $0.place == .cloud })
        #expect(last.reason == .greaterStamp)
        print(last)  // theme in the cloud: "dark" of phone replaced "light" of mac …
        #expect(print.lines[0].hasPrefix(#"theme in the cloud: "dark" of phone replaced "light" of mac "#))
        #expect(mac.store.string(forKey: "theme") == "dark", "\(cloud.explain("theme"))")
        for decision in cloud.decisions where decision.key == "theme" { print(decision) }
        #expect(print.lines.dropFirst().contains(print.lines[0]))
    }

    @Test("a cloud that cannot settle says why, and a strict one names dropped writes")
    func errors() async throws {
        let print = PrintedLines()
        try await cloud.settle()
        phone.hold()
        phone.store.set("dark", forKey: "theme")
        do throws(CloudError) { try await cloud.settle() } catch { print(error) }
        #expect(print.lines.count == 1 && print.lines[0].hasPrefix("held until release()"))
        phone.release()
        cloud.isStrict = true
        phone.store.set(Data(count: 2_000_000), forKey: "picture")
        await #expect(throws: CloudError.self) { try await cloud.settle() }
    }

    @Test("a task of the app sleeps on the cloud's clock")
    func clock() async throws {
        let draft = "Dear"
        func saveLater(clock: any Clock<Duration>) -> Task<Void, any Error> {
            Task {
                try await clock.sleep(for: .seconds(2))
                phone.store.set(draft, forKey: "draft")
            }
        }
        _ = saveLater(clock: cloud.clock)
        await cloud.advance(by: .seconds(1))
        #expect(phone.store.string(forKey: "draft") == nil)
        try await cloud.settle()  // saved, and on every device
        #expect(mac.store.string(forKey: "draft") == draft)
    }

    @Test("code that uses the default store runs on a device")
    func defaultStore() async throws {
        struct Appearance {
            var theme: String {
                get { UbiquitousKeyValueStore.default.string(forKey: "theme") ?? "light" }
                nonmutating set { UbiquitousKeyValueStore.default.set(newValue, forKey: "theme") }
            }
        }
        try await cloud.withDefault(phone) {
            Appearance().theme = "dark"  // uses UbiquitousKeyValueStore.default
            try await cloud.settle()
        }
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("a test runs again with its record")
    func record() async throws {
        func test(_ cloud: SimulatedCloud, _ theme: String) async throws {
            try cloud.device("phone").store.set(theme, forKey: "theme")
            try await cloud.settle()
        }
        try await TemporaryDirectory.use { directory in
            let path = directory + "/sync.jsonl"
            try await test(SimulatedCloud(seed: 4, record: path), "dark")
            let cloud = try SimulatedCloud(replaying: path)
            try await test(cloud, "dark")
            let changed = try SimulatedCloud(replaying: path)
            await #expect(throws: CloudError.self) { try await test(changed, "light") }
        }
    }

    @Test("a store without a cloud fails on demand and counts calls")
    func fake() {
        struct Settings {
            let store: any KeyValueStoring

            func save() {
                store.set("dark", forKey: "theme")
                store.set(12, forKey: "size")
            }
        }
        let store = FakeKeyValueStore()
        store.failWrite(2)
        Settings(store: store).save()
        #expect(store.callCount(of: .set, forKey: "theme") == 1)
        #expect(store.string(forKey: "size") == nil)
        #expect(store.string(forKey: "theme") == "dark")
    }
}
