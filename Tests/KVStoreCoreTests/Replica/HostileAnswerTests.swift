import StoreTestSupport
import Testing

@testable import KVStoreCore

@Suite("Answers of a hostile daemon")
struct HostileAnswerTests {
    /// Sets one number of an answer.
    struct Member: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout SyncResponse, Int64) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout SyncResponse, Int64) -> Void) {
            (testDescription, self.set) = (name, set)
        }
    }

    private static let members = [
        Member("serverTime") { $0.serverTime = $1 }, Member("cursor") { $0.cursor.sequence = UInt64(bitPattern: $1) },
        Member("horizon") { $0.horizon = UInt64(bitPattern: $1) },
        Member("lineage") { $0.lineage[0].sequence = UInt64(bitPattern: $1) },
        Member("seq") { $0.changes[0].sequence = UInt64(bitPattern: $1) },
        Member("milliseconds") {
            $0.changes[0].record.stamp = StoreStamp(milliseconds: $1, counter: .max, replica: ReplicaID(rawValue: .max))
        },
        Member("counter") { $0.changes[0].record.stamp.counter = UInt32(truncatingIfNeeded: $1) },
        Member("clock limit") { response, number in
            response.rejections = response.rejections.map {
                SyncRejection(key: $0.key, stamp: $0.stamp, reason: .clock(limit: number, present: nil))
            }
        },
        Member("present") { response, number in
            let present = StoreStamp(milliseconds: number, counter: .max, replica: ReplicaID(rawValue: 9))
            response.rejections = response.rejections.map {
                SyncRejection(key: $0.key, stamp: $0.stamp, reason: .clock(limit: 9, present: present))
            }
        },
        Member("quota limit") { response, number in
            response.rejections = response.rejections.map {
                SyncRejection(key: $0.key, stamp: $0.stamp, reason: .quota(limit: Int(number)))
            }
        },
    ]

    private static let numbers: [Int64] = [
        .min, .min + 1, -1 << 53, -1 << 48, -1, 0, 1, 1 << 47, (1 << 48) - 1, 1 << 48, 1 << 53, .max - 1, .max,
    ]

    @Test("no number stops a replica, whichever it is and however the replica stands", arguments: members)
    func bearsNumbers(_ member: Member) {
        for number in Self.numbers {
            for isInitial in [true, false] {
                for hasMore in [true, false] {
                    var bench = isInitial ? ReplicaBench() : .joined(isLive: true)
                    _ = bench.handle(.attached(isLive: true))
                    _ = bench.set("own", "1")
                    for _ in 0..<3 {
                        var response = SyncResponse(
                            cursor: SyncCursor(epoch: "e", sequence: 4), serverTime: bench.now.wall,
                            isInitial: isInitial,
                            hasMore: hasMore, changes: [.other("a", "1", sequence: 4)],
                            rejections: bench.rejections(.again), horizon: 0,
                            lineage: [SyncCursor(epoch: "e", sequence: 4)]
                        )
                        member.set(&response, number)
                        _ = bench.handle(.answered(id: bench.requestID, .success(response)))
                        if let change = response.changes.first {
                            _ = bench.receive(.change(change))
                        }
                        _ = bench.set("a", "\(number)")
                        bench.advance(milliseconds: 60_000)
                        _ = bench.handle(.woke)
                    }
                    #expect(bench.values["a"] == "\(number)")
                }
            }
        }
    }

    /// A daemon that keeps a replica asking.
    struct Endless: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Answers the request under way, for the n-th time.
        let answer: @Sendable (inout ReplicaBench, Int) -> Void
    }

    private static let endless = [
        Endless(testDescription: "more, with a cursor that stays") { bench, _ in
            _ = bench.answer(cursor: 0, hasMore: true, [.other("b", "1", sequence: 1)])
        },
        Endless(testDescription: "more, with a cursor that goes back") { bench, _ in
            _ = bench.answer(
                cursor: bench.request?.since == nil ? 0 : (bench.request?.since?.sequence ?? 0) / 2,
                hasMore: true, [.other("b", "1", sequence: 1)])
        },
        Endless(testDescription: "more of a download, with a cursor that stays") { bench, _ in
            let since = bench.request?.since
            _ = bench.answer(
                cursor: since?.sequence ?? 3, isInitial: since == nil, hasMore: true, [.other("b", "1", sequence: 1)])
        },
        Endless(testDescription: "wants the change again") { bench, count in
            _ = bench.answer([.other("b", "\(count)", sequence: 1)], rejections: bench.rejections(.again))
        },
        Endless(testDescription: "starts over with every answer") { bench, _ in
            _ = bench.answer(cursor: 0, isInitial: true)
        },
        Endless(testDescription: "starts over in pages") { bench, _ in
            let since = bench.request?.since
            _ = bench.answer(cursor: since == nil ? 2 : 0, isInitial: since?.sequence ?? 0 == 0, hasMore: since == nil)
        },
        Endless(testDescription: "rejects the stamp or wants it again") { bench, count in
            _ = bench.answer(rejections: count.isMultiple(of: 2) ? bench.clockRejections() : bench.rejections(.again))
        },
        Endless(testDescription: "resets every stream") { bench, _ in
            _ = bench.answer(cursor: 0)
            _ = bench.receive(.opened)
            _ = bench.receive(.reset)
        },
    ]

    @Test("a daemon that brings a replica no further is not asked without a pause", arguments: endless)
    func pauses(_ daemon: Endless) {
        var bench = ReplicaBench.joined(isLive: true)
        _ = bench.receive(.opened)
        _ = bench.set("own", "1")
        if bench.request == nil { _ = bench.receive(.reset) }
        var count = 0
        while bench.request != nil, count < 100 {
            daemon.answer(&bench, count)
            count += 1
        }
        #expect(count > 0 && count <= 20)
    }
}
