import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

/// Saves a draft two seconds after the last change, as an app does.
private actor DraftSaver {
    private let store: UbiquitousKeyValueStore
    private let clock: any Clock<Duration>
    private var saving: Task<Void, any Error>?

    init(store: UbiquitousKeyValueStore, clock: any Clock<Duration>) {
        (self.store, self.clock) = (store, clock)
    }

    func change(to draft: String) {
        saving?.cancel()
        saving = Task { [store, clock] in
            try await clock.sleep(for: .seconds(2))
            store.set(draft, forKey: "draft")
        }
    }
}

@Suite("Simulated cloud: the clock of the app's own timers", .timeLimit(.minutes(5)))
struct ClockTests {
    private let cloud = SimulatedCloud(seed: 14)

    @Test("a debounced write happens once, at its virtual time", arguments: 0..<20)
    func debounce(run: Int) async throws {
        let phone = try cloud.device("phone")
        let saver = DraftSaver(store: phone.store, clock: cloud.clock)
        await saver.change(to: "a")
        await cloud.advance(by: .seconds(1))
        await saver.change(to: "ab")
        await cloud.advance(by: .milliseconds(1_999))
        #expect(phone.store.string(forKey: "draft") == nil)
        await cloud.advance(by: .milliseconds(1))
        #expect(phone.store.string(forKey: "draft") == "ab")
    }

    @Test("settle waits for sleeping tasks and for what they write")
    func settling() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let before = cloud.now
        await DraftSaver(store: phone.store, clock: cloud.clock).change(to: "a")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "draft") == "a")
        #expect((2..<3).contains(cloud.now.timeIntervalSince(before)))
    }

    @Test("a task that an observer starts sleeps from the time of the notification")
    func observer() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let saver = DraftSaver(store: mac.store, clock: cloud.clock)
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: mac.store, queue: nil
        ) { _ in Task { await saver.change(to: "answer") } }
        defer { NotificationCenter.default.removeObserver(token) }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "draft") == "answer")
    }

    @Test("tasks wake in the order of their times, each at its own")
    func order() async throws {
        let woken = Mutex<[Duration]>([])
        let clock = cloud.clock
        let times: [Duration] = [.seconds(3), .seconds(1), .microseconds(1_999_500), .seconds(40)]
        let tasks = times.map { time in
            Task { @Sendable in
                try await clock.sleep(until: .init(offset: time))
                woken.withLock { $0.append(clock.now.offset) }
            }
        }
        await cloud.advance(by: .seconds(60))
        for task in tasks { try await task.value }
        #expect(woken.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(3), .seconds(40)])
    }

    @Test("a task may sleep through the static method of Task, and a past deadline returns at once")
    func taskSleep() async throws {
        let clock = cloud.clock
        let task = Task { try await Task.sleep(for: .seconds(5), clock: clock) }  // deadline
        try await cloud.settle()
        try await task.value
        #expect(clock.now.offset == .seconds(5))
        try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)))
        try await clock.sleep(for: .zero)
    }

    @Test("a cancelled sleep throws at once and keeps nothing from settling")
    func cancellation() async throws {
        let clock = cloud.clock
        let task = Task { try await clock.sleep(for: .seconds(5)) }
        await cloud.advance(by: .seconds(1))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await cloud.settle()
        #expect(clock.now.offset == .seconds(1))
        let cancelled = Task { try await clock.sleep(for: .seconds(5)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("retries with growing pauses succeed once the network is back")
    func retries() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("dark", forKey: "theme")
        let (clock, store) = (cloud.clock, phone.store)
        let attempts = Mutex(0)
        let retrying = Task {
            var pause = Duration.seconds(1)
            while true {
                attempts.withLock { $0 += 1 }
                if (try? await store.synchronizeNow()) != nil { return }
                try await clock.sleep(for: pause)
                pause *= 2
            }
        }
        await cloud.advance(by: .seconds(10))
        phone.isOffline = false
        try await cloud.settle()
        try await retrying.value
        #expect((2...5).contains(attempts.withLock { $0 }))
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("a periodic timer is named as what keeps the cloud from settling, or not waited for")
    func periodic() async throws {
        let phone = try cloud.device("phone")
        let (clock, store) = (cloud.clock, phone.store)
        let polling = Task {
            while true {
                try await clock.sleep(for: .seconds(60))
                store.set(store.longLong(forKey: "polls") + 1, forKey: "polls")
            }
        }
        let error = await #expect(throws: CloudError.self) {
            try await cloud.settle(within: .seconds(610))
        }
        #expect(
            error?.description == """
                the cloud did not settle within 610.0 seconds of virtual time: phone wrote "polls" \
                10 times; tasks that sleep on the cloud's clock woke 10 times; under way: a task \
                sleeps on the cloud's clock
                """)
        try await cloud.settle(includesSleepers: false)
        #expect(phone.store.status.pendingKeyCount == 0)
        await cloud.advance(by: .seconds(60))
        #expect(phone.store.longLong(forKey: "polls") == 11)
        polling.cancel()
        try await cloud.settle()
    }
}
