import Foundation
import Synchronization
import Testing
import UsageState

@testable import usage_view

@Suite("Following a store", .timeLimit(.minutes(5)))
struct FollowingTests {
    private static func data(_ link: UsageData.Link) -> UsageData { UsageData(link: link, stored: .nothing) }

    /// A store whose first read blocks.
    private final class SlowStore: Sendable {
        let link = Mutex(UsageData.Link.online)
        private let readCount = Atomic(0)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let (gate, opening) = AsyncStream<Void>.makeStream()

        func read() async -> UsageData {
            let data = FollowingTests.data(link.withLock { $0 })
            if readCount.add(1, ordering: .relaxed).newValue == 1 {
                beginning.yield()
                for await _ in gate { break }
            }
            return data
        }
    }

    @Test("the last value is the newest state even if an older one was still being read")
    func order() async {
        let store = SlowStore()
        let (connections, connection) = AsyncStream<Int>.makeStream()
        let (changes, change) = AsyncStream<String>.makeStream()
        let live = UsageData.following(connections, changes) { await store.read() }
        async let last = live.reduce(nil as UsageData?) { $1 }
        change.yield("k")
        for await _ in store.begun { break }
        store.link.withLock { $0 = .offline(lastSeen: nil) }
        connection.yield(1)
        // Time for who would read at once, beside the read that is under way.
        for _ in 0..<1_000 { await Task.yield() }
        store.opening.yield()
        connection.finish()
        change.finish()
        #expect(await last == Self.data(.offline(lastSeen: nil)))
    }

    @Test("the state is read at once and again after every event")
    func looks() async throws {
        let number = Atomic(0)
        let (connections, connection) = AsyncStream<Int>.makeStream()
        let (changes, change) = AsyncStream<String>.makeStream()
        var live = UsageData.following(connections, changes) {
            UsageData(link: .online, stored: .unreadable(reason: "\(number.load(ordering: .relaxed))"))
        }.makeAsyncIterator()
        #expect(try await live.next()?.stored == .unreadable(reason: "0"))
        for round in 1...20 {
            number.store(round, ordering: .relaxed)
            if round.isMultiple(of: 2) { connection.yield(round) } else { change.yield("k") }
            while let data = try await live.next(), data.stored != .unreadable(reason: "\(round)") {}
        }
        connection.finish()
        change.finish()
        #expect(try await live.next() == nil)
    }
}
