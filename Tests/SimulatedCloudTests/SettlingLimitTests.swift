import Dispatch
import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: what never comes to rest", .timeLimit(.minutes(5)))
struct SettlingLimitTests {
    private let cloud = SimulatedCloud(seed: 13)

    /// Calls `respond` with each notification of the device's app until the result is released.
    private func observe(
        _ device: CloudDevice, _ respond: @escaping @Sendable (UbiquitousKeyValueStore) -> Void
    ) -> Observer {
        let store = device.store
        return Observer(
            NotificationCenter.default.addObserver(
                forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
            ) { _ in respond(store) })
    }

    private final class Observer {
        private let token: any NSObjectProtocol

        init(_ token: any NSObjectProtocol) { self.token = token }

        deinit { NotificationCenter.default.removeObserver(token) }
    }

    private func settlingError(
        within limit: Duration = .seconds(3_600), timeout: Duration = .seconds(30)
    ) async throws -> CloudError {
        try #require(
            await #expect(throws: CloudError.self) {
                try await cloud.settle(within: limit, timeout: timeout)
            })
    }

    /// Two devices of which each increments the key when the other has.
    private func pingPong() throws -> [Observer] {
        let devices = [try cloud.device("phone"), try cloud.device("mac")]
        let observers = devices.map { device in
            observe(device) { $0.set($0.longLong(forKey: "echo") + 1, forKey: "echo") }
        }
        devices[0].store.set(1, forKey: "echo")
        return observers
    }

    @Test("two devices that answer each other are both named, with their keys and counts")
    func twoDevices() async throws {
        let observers = try pingPong()
        let error = try await settlingError(within: .seconds(20))
        guard case .stillMoving(.virtualTime(.seconds(20)), let causes, let what) = error else {
            Issue.record("\(error)")
            return
        }
        let pattern =
            /the observer of "echo" on (mac|phone) wrote "echo" [0-9]+ times in answer to changes of other devices/
        let names = try causes.map { try #require($0.wholeMatch(of: pattern), "\($0)").1 }
        #expect(names.sorted() == ["mac", "phone"])
        #expect(!what.isEmpty)
        withExtendedLifetime(observers) {}
    }

    @Test("an observer that answers every quota violation by writing again is named")
    func quotaViolations() async throws {
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(keyCount: 1) })
        phone.store.set(1, forKey: "plan")
        try await cloud.settle()
        let before = cloud.now
        let observer = observe(phone) { $0.set(1, forKey: "count") }
        phone.store.set(1, forKey: "count")
        await cloud.advance(by: .milliseconds(1))
        let error = try await settlingError()
        #expect(
            error.description == """
                the cloud did not settle within 10,000 writes of one key: the observer of "count" \
                on phone wrote "count" 10,000 times in answer to quota violations
                """)
        #expect(cloud.now.timeIntervalSince(before) < 1)
        withExtendedLifetime(observer) {}
    }

    @Test("an observer without an account that answers itself is named, too")
    func localStore() async throws {
        let phone = try cloud.device("phone", .with { ($0.account, $0.limits) = (nil, StoreLimits(keyCount: 0)) })
        let observer = observe(phone) { $0.set(1, forKey: "count") }
        phone.store.set(1, forKey: "count")
        guard case .stillMoving(.writes, let causes, _) = try await settlingError() else {
            Issue.record("a local store has no network to wait for")
            return
        }
        #expect(causes.count == 1)
        withExtendedLifetime(observer) {}
    }

    @Test("a few answers to quota violations are delivered before settle returns")
    func endingAnswers() async throws {
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(keyCount: 0) })
        let observer = observe(phone) { [phone] store in
            if phone.notifications.count < 20 { store.set(1, forKey: "count") }
        }
        phone.store.set(1, forKey: "count")
        try await cloud.settle()
        #expect((20...21).contains(phone.notifications.count))
        withExtendedLifetime(observer) {}
    }

    @Test("settle ends at its real-time limit, and names who kept it from settling")
    func realTime() async throws {
        let observers = try pingPong()
        let error = try await settlingError(within: .seconds(1_000_000), timeout: .milliseconds(200))
        guard case .stillMoving(.realTime(.milliseconds(200)), let causes, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(causes.contains { $0.contains("wrote \"echo\"") }, "\(error)")
        withExtendedLifetime(observers) {}
    }

    @Test("the device of an observer that never returns is named")
    func stuckObserver() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let release = DispatchSemaphore(value: 0)
        let observer = observe(mac) { _ in release.wait() }
        phone.store.set("dark", forKey: "theme")
        let error = try await settlingError(timeout: .milliseconds(100))
        guard case .stillMoving(.realTime, let causes, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(causes == ["an observer on mac has not returned"])
        let again = try await settlingError(timeout: .milliseconds(100))
        #expect(again.description.contains("an observer on mac has not returned"))
        release.signal()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        withExtendedLifetime(observer) {}
    }

    @Test("settle ends when its task is cancelled")
    func cancellation() async throws {
        let observers = try pingPong()
        let settling = Task { [cloud] in
            try await cloud.settle(within: .seconds(1_000_000), timeout: .seconds(1_000))
        }
        settling.cancel()
        let error = await #expect(throws: CloudError.self) { try await settling.value }
        guard case .stillMoving(.cancellation, _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        withExtendedLifetime(observers) {}
    }
}
